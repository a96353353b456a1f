#include <fmt/core.h>

#include <stdexcept>

#include "support/fab_collectives.h"
#include "support/fab_forms.h"

namespace bench {

namespace {

void refuse_engines(const ThreadOptions& threads) {
  if (threads.engines > 1)
    throw std::runtime_error(
        fmt::format("--engines {}: this program is built without fab; 1 is valid", threads.engines));
}

}  // namespace

Memory allocate_from_fab(std::size_t) { throw std::runtime_error("--memory fab: this program is built without fab"); }

struct FabForms::Parts {};

FabForms::FabForms(const Neighbors&, const ThreadOptions& threads) { refuse_engines(threads); }
FabForms::~FabForms() = default;

std::optional<FabPath> FabForms::path() const { return std::nullopt; }
std::set<std::string> FabForms::ways(std::size_t, MemoryKind, Form, Rewrite) const { return {}; }
std::set<std::string> FabForms::ways_taken(const Contestant&) const { return {}; }
std::vector<Contestant> FabForms::contestants(Exchange&) { return {}; }
std::optional<NonblockingCall> FabForms::nonblocking(Exchange&) { return std::nullopt; }
std::set<std::string> FabForms::ways_of_native(Exchange&) const { return {}; }

struct FabCollectives::Parts {};

FabCollectives::FabCollectives(FabRules, const ThreadOptions& threads) { refuse_engines(threads); }
FabCollectives::~FabCollectives() = default;

std::optional<FabPath> FabCollectives::path() const { return std::nullopt; }
std::string FabCollectives::algorithm(const CollectiveCase&) const { return {}; }
std::vector<Contestant> FabCollectives::contestants(CollectiveCase&) { return {}; }
std::optional<NonblockingCall> FabCollectives::nonblocking(CollectiveCase&) { return std::nullopt; }
std::set<std::string> FabCollectives::ways_during(Collective, const std::function<void()>&) const { return {}; }

}  // namespace bench
