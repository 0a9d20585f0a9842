// SPDX-License-Identifier: MIT
#include "preload/component/message_talk.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "chasqui/base/error.hpp"
#include "preload/component/component.h"

namespace chasqui::preload {

/// A message to a rank and one from a rank.
struct MessageTalk::Trade {
  std::vector<std::byte> give, take;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

MessageTalk::MessageTalk(MPI_Comm comm, const std::vector<int>& places, int rank, int tag, Fiber& fiber)
    : Talk(rank, static_cast<int>(places.size())), comm_(comm), places_(places), tag_(tag), fiber_(fiber) {}

bool MessageTalk::goes_on() const {
  if (waiting_ == nullptr) return true;
  return std::all_of(std::begin(waiting_->requests), std::end(waiting_->requests),
                     [](MPI_Request request) { return chasqui_component_is_complete(request) != 0; });
}

void MessageTalk::trade(const void* give, int to, void* take, int from, std::size_t bytes) {
  auto one = std::make_unique<Trade>();
  const auto* const begin = static_cast<const std::byte*>(give);
  one->give.assign(begin, begin + bytes);
  one->take.resize(bytes);
  const auto place = [&](int rank) { return places_[static_cast<std::size_t>(rank)]; };
  const int length = static_cast<int>(bytes);
  const auto check = [](int code, const char* call) {
    if (code != MPI_SUCCESS) throw Error("{} returned error {}", call, code);
  };
  try {
    check(PMPI_Irecv(one->take.data(), length, MPI_BYTE, place(from), tag_, comm_, &one->requests[0]), "MPI_Irecv");
    check(PMPI_Isend(one->give.data(), length, MPI_BYTE, place(to), tag_, comm_, &one->requests[1]), "MPI_Isend");
    waiting_ = one.get();
    while (!goes_on()) fiber_.suspend();
    waiting_ = nullptr;
    check(PMPI_Waitall(2, one->requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  } catch (...) {  // its messages may be under way: what they are written to stays
    waiting_ = nullptr;
    if (one->requests[0] != MPI_REQUEST_NULL) PMPI_Cancel(&one->requests[0]);
    for (MPI_Request& request : one->requests) {
      if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
    }
    static_cast<void>(one.release());
    throw;
  }
  std::memcpy(take, one->take.data(), bytes);
}

/// Twice as many ranks in each round; some of them twice, which changes no minimum.
void MessageTalk::least(int (&numbers)[2]) {
  for (int apart = 1; apart < size(); apart *= 2) {
    int theirs[2];
    trade(numbers, (rank() + apart) % size(), theirs, (rank() - apart + size()) % size(), sizeof theirs);
    for (int i = 0; i < 2; ++i) numbers[i] = std::min(numbers[i], theirs[i]);
  }
}

/// Bruck's: each round brings as many blocks as a rank has, of the ranks behind it.
void MessageTalk::gather(const void* mine, std::size_t bytes, void* everyones) {
  const auto ranks = static_cast<std::size_t>(size()), own = static_cast<std::size_t>(rank());
  if (bytes == 0) return;
  std::vector<std::byte> blocks(bytes * ranks);  // of this rank and those after it
  std::memcpy(blocks.data(), mine, bytes);
  for (std::size_t have = 1; have < ranks; have *= 2) {
    const std::size_t more = std::min(have, ranks - have);
    trade(blocks.data(), static_cast<int>((own + ranks - have) % ranks), blocks.data() + bytes * have,
          static_cast<int>((own + have) % ranks), bytes * more);
  }
  auto* const to = static_cast<std::byte*>(everyones);
  for (std::size_t i = 0; i < ranks; ++i)
    std::memcpy(to + bytes * ((own + i) % ranks), blocks.data() + bytes * i, bytes);
}

/// Few and short ones, so all tell all.
void MessageTalk::tell(int root, void* data, std::size_t bytes) {
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(size()));
  gather(data, bytes, all.data());
  if (bytes != 0) std::memcpy(data, all.data() + bytes * static_cast<std::size_t>(root), bytes);
}

}  // namespace chasqui::preload
