// Persistent calls, each started several times, and non-blocking ones, for the table of fab's statistics.
//   a reduction of 512 KiB that is started 10 times alone and 5 times together with another one: 20 starts
//   one that is made, and never started
//   3 broadcasts that are waited for together, twice
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "dropin/init_of.h"
#include "expect.h"

namespace {

constexpr int kNumbers = 131072;
int ranks = 1;
class Sum {
 public:
  Sum() : mine_(kNumbers, 1), sum_(kNumbers) {
    expect(INIT_OF(Allreduce)(mine_.data(), sum_.data(), kNumbers, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                              &request) == MPI_SUCCESS,
           "Allreduce_init");
  }
  ~Sum() { MPI_Request_free(&request); }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;

  void check() {
    expect(sum_.front() == ranks && sum_.back() == ranks, "a sum");
    sum_.assign(kNumbers, -1);
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  std::vector<int> mine_;
  std::vector<int> sum_;
};

void start_sums() {
  Sum sum;
  Sum other;
  const Sum never_started;
  for (int i = 0; i < 10; ++i) {
    MPI_Start(&sum.request);
    MPI_Wait(&sum.request, MPI_STATUS_IGNORE);
    sum.check();
  }
  for (int i = 0; i < 5; ++i) {
    std::array<MPI_Request, 2> both{sum.request, other.request};
    MPI_Startall(2, both.data());
    MPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
    sum.check();
    other.check();
  }
}

void broadcast() {
  std::array<MPI_Request, 3> requests{};
  std::array<int, 3> numbers{7, 7, 7};
  for (std::size_t i = 0; i < requests.size(); ++i)
    MPI_Ibcast(&numbers[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  start_sums();
  broadcast();
  broadcast();
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
