// Lets the ranks of two nodes find out what goes between them, and agree whether it goes by nodes.
//
// Four steps, in which words travel:
//   0. to each rank of the node: how many words the next message to it has
//   1. to the carriers of the node: the edges of the pairs of nodes for which they carry
//   2. between the two carriers of a pair: sizes of all edges, and from the sending one which edges have the same value
//      and what its network is
//   3. from the carriers to the ranks of the node: which pairs go by nodes
//
// Both carriers decide from the same words. A pair whose ends disagree about an edge goes directly, so that this is
// found, and reported, as anywhere else.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "collectives/neighbor/node_pairs.h"

namespace fab::collectives {

/// One message of a step. To receive, `words` has the size that will come.
struct WordMessage {
  Rank peer = 0;
  std::uint32_t slot = 0;
  std::vector<std::uint64_t> words;
};

struct WordExchange {
  std::vector<WordMessage> sends;
  std::vector<WordMessage> receives;
};

/// What goes by nodes, as far as it concerns one rank.
struct NodeRoutes {
  std::set<int> to;                ///< the nodes to which this rank's edges do
  std::set<int> from;              ///< the nodes from which
  std::vector<NodePair> sends;     ///< the pairs for which this rank is the sending carrier, by the other node
  std::vector<NodePair> receives;  ///< and the receiving one

  [[nodiscard]] bool empty() const noexcept { return to.empty() && from.empty() && sends.empty() && receives.empty(); }
};

class NodeAgreement {
 public:
  static constexpr int kSteps = 4;
  /// Whether a pair goes by nodes, given what its sending carrier says of its network; must say the same for the same
  /// arguments on all ranks.
  using Decide = std::function<bool(const NodePair&, std::uint64_t network)>;

  /// `map` outlives this. `network` is this rank's word.
  NodeAgreement(const core::NodeMap& map, Rank self, const NodeEdges& own, std::uint64_t network, Decide decide);

  /// The messages of a step. The steps follow each other, each taken before the next one begins.
  [[nodiscard]] WordExchange messages(int step) const;
  void take(int step, const std::vector<WordMessage>& received);
  /// After all steps.
  [[nodiscard]] NodeRoutes routes() const;

 private:
  /// The edges of one rank that one carrier carries.
  struct List {
    std::map<int, std::vector<NodeEdge>> to;    ///< by the other node
    std::map<int, std::vector<NodeEdge>> from;  ///< likewise

    [[nodiscard]] bool empty() const noexcept { return to.empty() && from.empty(); }
    [[nodiscard]] std::size_t nodes() const noexcept { return to.size() + from.size(); }
  };
  struct Carried {
    NodePair pair;
    bool by_node = false;
  };

  [[nodiscard]] std::vector<Rank> mates() const;
  [[nodiscard]] std::size_t list_words(Rank carrier) const;
  [[nodiscard]] WordExchange lengths() const;
  [[nodiscard]] WordExchange lists() const;
  [[nodiscard]] WordExchange descriptions() const;
  [[nodiscard]] WordExchange decisions() const;
  void take_lists(const std::vector<WordMessage>& received);
  void take_descriptions(const std::vector<WordMessage>& received);
  void take_decisions(const std::vector<WordMessage>& received);
  void carry(const List& list);

  const core::NodeMap& map_;
  const Rank self_;
  const int node_;
  const std::uint64_t network_;
  const Decide decide_;
  std::map<Rank, List> own_;                  ///< by the carrier
  std::map<Rank, std::uint64_t> list_words_;  ///< that come from a rank of the node
  std::map<Rank, List> taken_;                ///< by the rank
  std::map<int, Carried> sends_;              ///< by the other node
  std::map<int, Carried> receives_;           ///< likewise
  NodeRoutes routes_;
};

}  // namespace fab::collectives
