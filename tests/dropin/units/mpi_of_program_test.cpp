#include "bindings/tools/mpi_of_program.h"

#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "bindings/tools/linkage.h"

namespace fab::tools {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

std::optional<Mpi> among(const std::vector<std::string>& libraries) { return mpi_among(libraries); }

Variable of(const std::map<std::string, const char*>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second;
  };
}

TEST(MpiOfProgram, ByTheLibrariesThatItAsksFor) {
  EXPECT_EQ(among({"libc.so.6", "libmpi.so.40"}), Mpi::open_mpi);
  EXPECT_EQ(among({"libmpi_usempif08.so.40", "libmpi.so.40"}), Mpi::open_mpi);
  EXPECT_EQ(among({"libmpich.so.12", "libc.so.6"}), Mpi::mpich);
  EXPECT_EQ(among({"libmpichfort.so.12", "libmpich.so.12"}), Mpi::mpich);
  EXPECT_EQ(among({"libmpifort.so.12", "libmpi.so.12"}), Mpi::mpich);
  EXPECT_EQ(among({"libmpi_gnu_91.so.12"}), Mpi::mpich);
  EXPECT_EQ(among({"libmpiP.so", "libmpich.so.12"}), Mpi::mpich);  // a profiler before it
  EXPECT_EQ(among({"libc.so.6", "libmpiP.so"}), std::nullopt);
  EXPECT_EQ(among({}), std::nullopt);
}

TEST(MpiOfProgram, ByItsLauncher) {
  EXPECT_EQ(mpi_of_launcher(of({{"OMPI_COMM_WORLD_RANK", "0"}})), Mpi::open_mpi);
  EXPECT_EQ(mpi_of_launcher(of({{"MPI_LOCALNRANKS", "2"}})), Mpi::mpich);
  EXPECT_EQ(mpi_of_launcher(of({{"PMI_RANK", "0"}})), std::nullopt);  // of Slurm, for any MPI
  EXPECT_EQ(mpi_of_launcher(of({{"OMPI_COMM_WORLD_RANK", "0"}, {"MPI_LOCALNRANKS", "2"}})), Mpi::open_mpi);
  EXPECT_EQ(mpi_of_launcher(of({})), std::nullopt);
}

TEST(MpiOfProgram, ByItsFileFirst) {
  EXPECT_EQ(mpi_of_program("/proc/self/exe", of({{"MPI_LOCALNRANKS", "2"}})),
            among(needed_libraries("/proc/self/exe")));
  EXPECT_EQ(mpi_of_program("/no/program", of({{"MPI_LOCALNRANKS", "2"}})), Mpi::mpich);
  EXPECT_EQ(mpi_of_program("/no/program", of({})), std::nullopt);
}

TEST(NeededLibraries, AreThoseOfTheFile) {
  EXPECT_THAT(needed_libraries("/proc/self/exe"), Contains("libc.so.6"));
  EXPECT_THAT(needed_libraries("/proc/self/exe"), Contains(StartsWith("libmpi")));
  EXPECT_THAT(needed_libraries("/no/program"), IsEmpty());
  EXPECT_THAT(needed_libraries("/dev/null"), IsEmpty());
  EXPECT_THAT(needed_libraries("/etc/passwd"), IsEmpty());
}

}  // namespace
}  // namespace fab::tools
