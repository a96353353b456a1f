#include "bindings/mpi/interception/call_graph.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "bindings/mpi/interception/loaded_objects.h"
#include "bindings/mpi/interception/next.h"

namespace fab::mpi {

namespace {

struct TakenOver {
  std::string_view name;  ///< without prefix
  std::uintptr_t mpi;     ///< fab's MPI_ function
  std::uintptr_t pmpi;
};

const auto& taken_over() {
#define FAB_ROW(member, name) \
  TakenOver{#name, reinterpret_cast<std::uintptr_t>(&::MPI_##name), reinterpret_cast<std::uintptr_t>(&::PMPI_##name)},
  static const auto all = std::to_array<TakenOver>({FAB_TAKEN_OVER(FAB_ROW)});
#undef FAB_ROW
  return all;
}

/// Null if it is not one of them.
const TakenOver* find(std::string_view name) {
  if (name.starts_with('P')) name.remove_prefix(1);
  constexpr std::string_view kPrefix = "MPI_";
  if (!name.starts_with(kPrefix)) return nullptr;
  const auto* const found = std::ranges::find(taken_over(), name.substr(kPrefix.size()), &TakenOver::name);
  return found == taken_over().end() ? nullptr : found;
}

std::vector<std::string_view> names_taken_over() {
#define FAB_ROW(member, name) "MPI_" #name, "PMPI_" #name,
  std::vector<std::string_view> names{FAB_TAKEN_OVER(FAB_ROW)};
#undef FAB_ROW
  std::ranges::sort(names);
  return names;
}

/// A handle of an object that is loaded.
class Handle {
 public:
  explicit Handle(const LoadedObject& object)
      : handle_(::dlopen(object.path.empty() ? nullptr : object.path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {}
  ~Handle() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// In the object and all that it needs; for the program, in all that is global. 0 if not there.
  [[nodiscard]] std::uintptr_t find(const std::string& name) const {
    return handle_ == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(::dlsym(handle_, name.c_str()));
  }

 private:
  void* handle_;
};

class Reader {
 public:
  Reader() : objects_(read_loaded_objects(names_taken_over())) {
    mpi_ = holder(reinterpret_cast<std::uintptr_t>(&PMPI_Get_library_version));
    fab_ = holder(reinterpret_cast<std::uintptr_t>(&taken_over));
  }

  [[nodiscard]] CallGraph read() {
    for (const LoadedObject& object : objects_)
      if (!is_mpis_own(object)) follow(object);
    const bool fab_is_the_program = fab_ != nullptr && fab_->path.empty();
    if (!completion_reaches_fab_ && !graph_.completion && !fab_is_the_program)
      graph_.completion = Detour{"no object of this process calls MPI's completion functions by their names"};
    return std::move(graph_);
  }

 private:
  [[nodiscard]] const LoadedObject* holder(std::uintptr_t address) const {
    const auto found =
        std::ranges::find_if(objects_, [address](const LoadedObject& object) { return object.contains(address); });
    return found == objects_.end() ? nullptr : &*found;
  }

  /// The library, and the components that it loads: they complete requests of their own only.
  [[nodiscard]] bool is_mpis_own(const LoadedObject& object) const {
    const std::size_t slash = object.path.rfind('/');
    const std::string_view file = std::string_view(object.path).substr(slash == std::string::npos ? 0 : slash + 1);
    return (&object == mpi_ && !object.path.empty()) || file.starts_with("mca_");
  }

  void follow(const LoadedObject& object) {
    for (const Import& import : object.imports) {
      const std::vector<std::uintptr_t> targets =
          import.bound ? std::vector<std::uintptr_t>{import.target} : possible_targets(object, import.name);
      for (const std::uintptr_t target : targets) judge(object, import.name, target);
    }
  }

  void judge(const LoadedObject& object, const std::string& name, std::uintptr_t target) {
    const TakenOver& function = *find(name);
    const bool completes = function.name != "Op_free";
    if (target == 0 || target == function.mpi || target == function.pmpi) {
      completion_reaches_fab_ |= completes && target != 0;
      return;
    }
    const LoadedObject* const owner = holder(target);
    if (owner != nullptr && owner != mpi_) {
      if (calls_itself(*owner, function)) return;  // and is looked at like all others
      if (fab_is_next(function)) {
        completion_reaches_fab_ |= completes;
        return;
      }
    }
    std::optional<Detour>& detour = completes ? graph_.completion : graph_.op_free;
    if (!detour)
      detour = Detour{fmt::format("{}, as {} calls it, is that of {}", name, name_of(object),
                                  owner == nullptr ? "an unknown object" : name_of(*owner))};
  }

  /// Whether a tool that stands in for the function calls it by its name.
  [[nodiscard]] static bool calls_itself(const LoadedObject& tool, const TakenOver& function) {
    return std::ranges::any_of(tool.imports, [&](const Import& import) { return find(import.name) == &function; });
  }

  /// Other tools ask the linker for the next of the same name: that is fab's where fab comes before MPI.
  [[nodiscard]] static bool fab_is_next(const TakenOver& function) {
    return Handle(LoadedObject{}).find(fmt::format("PMPI_{}", function.name)) == function.pmpi;
  }

  /// Where the linker looks: first in all that is global, then in the objects that were loaded together with this one.
  /// Which those are it does not tell, so all that can have brought this one along are asked.
  [[nodiscard]] std::vector<std::uintptr_t> possible_targets(const LoadedObject& object,
                                                             const std::string& name) const {
    if (const std::uintptr_t global = Handle(LoadedObject{}).find(name); global != 0) return {global};
    std::set<std::uintptr_t> targets;
    for (const LoadedObject& root : objects_)
      if (&root == &object || needs(root, object)) targets.insert(Handle(root).find(name));
    targets.erase(0);
    return {targets.begin(), targets.end()};
  }

  /// Directly or by way of others.
  [[nodiscard]] bool needs(const LoadedObject& root, const LoadedObject& wanted) const {
    std::set<const LoadedObject*> seen;
    std::vector<const LoadedObject*> open{&root};
    while (!open.empty()) {
      const LoadedObject* const object = open.back();
      open.pop_back();
      if (!seen.insert(object).second) continue;
      if (object == &wanted) return true;
      for (const LoadedObject& each : objects_)
        if (!each.soname.empty() && std::ranges::find(object->needed, each.soname) != object->needed.end())
          open.push_back(&each);
    }
    return false;
  }

  std::vector<LoadedObject> objects_;
  const LoadedObject* mpi_ = nullptr;
  const LoadedObject* fab_ = nullptr;
  CallGraph graph_;
  bool completion_reaches_fab_ = false;
};

}  // namespace

CallGraph read_call_graph() { return Reader().read(); }

}  // namespace fab::mpi
