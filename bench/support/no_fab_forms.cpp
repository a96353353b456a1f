#include <stdexcept>

#include "support/fab_collectives.h"
#include "support/fab_forms.h"

namespace bench {

Memory allocate_from_fab(std::size_t) { throw std::runtime_error("--memory fab: this program is built without fab"); }

struct FabForms::Parts {};

FabForms::FabForms(const Neighbors&) {}
FabForms::~FabForms() = default;

std::optional<FabPath> FabForms::path() const { return std::nullopt; }
std::set<std::string> FabForms::ways(std::size_t, MemoryKind, Form) const { return {}; }
std::set<std::string> FabForms::ways_taken(const Contestant&) const { return {}; }
std::vector<Contestant> FabForms::contestants(Exchange&) { return {}; }
std::optional<NonblockingCall> FabForms::nonblocking(Exchange&) { return std::nullopt; }

struct FabCollectives::Parts {};

FabCollectives::FabCollectives(FabRules) {}
FabCollectives::~FabCollectives() = default;

std::optional<FabPath> FabCollectives::path() const { return std::nullopt; }
std::string FabCollectives::algorithm(const CollectiveCase&) const { return {}; }
std::vector<Contestant> FabCollectives::contestants(CollectiveCase&) { return {}; }
std::optional<NonblockingCall> FabCollectives::nonblocking(CollectiveCase&) { return std::nullopt; }

}  // namespace bench
