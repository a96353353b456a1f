#include "bindings/mpi/requests/request_array.h"

#include <algorithm>

namespace fab::mpi {

RequestArray::RequestArray(int count, MPI_Request requests[])
    : requests_(requests, static_cast<std::size_t>(std::max(count, 0))) {
  exchanges_.resize(requests_.size());
  pending_.resize(requests_.size());
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    exchanges_[i] = find_exchange(requests_[i]);
    if (exchanges_[i] == nullptr) {
      others_ = true;
      continue;
    }
    requests_[i] = MPI_REQUEST_NULL;
    pending_[i] = exchanges_[i]->run();
    if (pending_[i] != nullptr) ++active_;
  }
}

RequestArray::~RequestArray() {
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (exchanges_[i] != nullptr) requests_[i] = exchanges_[i]->request();
}

bool RequestArray::all_ready() noexcept {
  while (known_ready_ < pending_.size() && (pending_[known_ready_] == nullptr || pending_[known_ready_]->done()))
    ++known_ready_;
  return known_ready_ == pending_.size();
}

int RequestArray::find_ready(int from) const noexcept {
  const auto ready = [](const core::Pending* each) { return each != nullptr && each->done(); };
  const auto found = std::find_if(pending_.begin() + from, pending_.end(), ready);
  return found == pending_.end() ? -1 : static_cast<int>(found - pending_.begin());
}

Outcome RequestArray::end(int index) {
  const auto i = static_cast<std::size_t>(index);
  if (pending_[i] == nullptr) return {};
  pending_[i] = nullptr;
  --active_;
  MPI_Request handle = exchanges_[i]->request();
  const Outcome outcome = exchanges_[i]->end(handle);
  if (handle == MPI_REQUEST_NULL) exchanges_[i] = nullptr;
  return outcome;
}

}  // namespace fab::mpi
