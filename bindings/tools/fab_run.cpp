// fab_run: starts a program under libfab_dropin.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/linkage.h"
#include "bindings/tools/mpi_of_program.h"

namespace {

using fab::tools::Mpi;

constexpr const char* kHeap = "fab/libfab_heap.so";
/// What libfab_dropin is for. Where that is Open MPI, there may be a libfab_dropin_mpich as well.
#ifdef FAB_MPI_IS_OPEN_MPI
constexpr Mpi kOwnMpi = Mpi::open_mpi;
#else
constexpr Mpi kOwnMpi = Mpi::mpich;
#endif

struct Request {
  std::string carry;
  bool stats = false;
  bool heap = false;
  std::optional<Mpi> mpi{};  ///< none: the program and its launcher tell
  std::vector<std::string> command;
};

/// Beside this program, as in a build folder, or where the libraries were installed.
std::vector<std::filesystem::path> places(const char* file) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return {folder / file, (folder / FAB_BIN_TO_LIB / file).lexically_normal()};
}

/// Empty if it is in no place, which it tells.
std::string find_library(const char* file) {
  const auto all = places(file);
  for (const auto& place : all) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return place.string();
  }
  std::fprintf(stderr, "fab_run: %s is missing; it was looked for as %s and %s\n", file, all[0].c_str(),
               all[1].c_str());
  return {};
}

bool set(const char* name, const std::string& value) {
  if (::setenv(name, value.c_str(), 1) == 0) return true;
  std::fprintf(stderr, "fab_run: cannot set %s: %s\n", name, std::strerror(errno));
  return false;
}

/// What was to be loaded before comes behind it: a tool sees the calls that fab makes.
bool preload(const std::string& library) {
  const char* const before = std::getenv("LD_PRELOAD");
  const bool any = before != nullptr && *before != '\0';
  return set("LD_PRELOAD", any ? fmt::format("{}:{}", library, before) : library);
}

Mpi mpi_for(const Request& request, const std::filesystem::path& program) {
  const auto variable = [](const char* name) { return std::getenv(name); };
  const auto mpi = request.mpi ? request.mpi : fab::tools::mpi_of_program(program, variable);
  return mpi.value_or(kOwnMpi);
}

/// The drop-in library for the program's MPI; empty if there is none, which it tells.
std::string find_dropin(Mpi mpi) {
  if (mpi == kOwnMpi) return find_library("libfab_dropin.so.1");
  if (mpi == Mpi::mpich) return find_library("libfab_dropin_mpich.so.1");
  std::fprintf(stderr, "fab_run: the program uses Open MPI, and this fab was built for MPICH\n");
  return {};
}

/// Such a program runs all the same, as it would alone.
void warn_of_static_program(const std::string& program, const std::filesystem::path& file) {
  if (!fab::tools::is_statically_linked(file)) return;
  std::fprintf(stderr, "fab_run: %s is linked statically, so fab carries none of its calls\n",
               fab::in_quotes(program).c_str());
}

/// Returns only if the program cannot be started.
int start(const Request& request) {
  std::vector<char*> arguments;
  for (const std::string& word : request.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  std::fprintf(stderr, "fab_run: cannot start %s: %s\n", fab::in_quotes(request.command[0]).c_str(),
               std::strerror(error));
  return error == ENOENT ? 127 : 126;
}

/// FAB_DROPIN_HEAP, whose other values the library complains of.
bool wants_heap(const Request& request) {
  const char* const text = std::getenv("FAB_DROPIN_HEAP");
  const std::string_view value = text == nullptr ? "" : text;
  return request.heap || value == "on" || value == "1";
}

int run(const Request& request) {
  const std::filesystem::path program = fab::tools::find_program(request.command[0].c_str());
  std::string library = find_dropin(mpi_for(request, program));
  if (library.empty()) return EXIT_FAILURE;
  if (wants_heap(request)) {
    const std::string heap = find_library(kHeap);
    if (heap.empty() || !set("FAB_DROPIN_HEAP", "on")) return EXIT_FAILURE;
    library += ":" + heap;
  }
  if (!request.carry.empty() && !set("FAB_DROPIN", request.carry)) return EXIT_FAILURE;
  if (request.stats && !set("FAB_STATS", "1")) return EXIT_FAILURE;
  warn_of_static_program(request.command[0], program);
  return preload(library) ? start(request) : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Starts an MPI program as it is, and lets fab carry the collectives that FAB_DROPIN selects.",
               "fab_run");
  Request request;
  app.add_option("-c,--carry", request.carry,
                 "What fab carries: auto, all, off, or a list such as allreduce,neighbor_alltoallv (FAB_DROPIN)");
  app.add_flag("-s,--stats", request.stats,
               "At the end print what fab carried, why not the rest, and a page of statistics (FAB_STATS=1)");
  app.add_flag("--heap", request.heap,
               "Large blocks of the program lie in fab's memory, which ranks of a node copy once (FAB_DROPIN_HEAP=on)");
  const std::map<std::string, Mpi> names{{"openmpi", Mpi::open_mpi}, {"mpich", Mpi::mpich}};
  app.add_option("--mpi", request.mpi, "Which MPI the program uses, where neither its file nor its launcher tells")
      ->transform(CLI::CheckedTransformer(names).description(""))  // the type's name lists them
      ->type_name("openmpi|mpich");
  app.prefix_command();  // all from the program on is the program's
  return fab::tools::run_tool(app, argc, argv, [&] {
    request.command = app.remaining();
    if (!request.command.empty()) return run(request);
    std::fprintf(stderr, "fab_run: the program to start is missing: fab_run [OPTIONS] PROGRAM [ARGUMENTS]\n");
    return EXIT_FAILURE;
  });
}
