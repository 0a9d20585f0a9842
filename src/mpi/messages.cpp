// SPDX-License-Identifier: MIT
#include "messages.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "check.hpp"

namespace chasqui::mpi {
namespace {

constexpr int kNewsTag = 32'700;  ///< above all collectives' tags, below the least MPI_TAG_UB

struct News {
  std::uint64_t first, last;
  bool refusal;
  char why[400];
};

/// A long message that is arriving cannot be called off, and its buffer is about to go: gives it time to end. One that
/// nobody will take never ends, and touches nothing.
void settle(MPI_Request& request, double seconds) {
  int flag = 0;
  for (const double until = MPI_Wtime() + seconds; flag == 0 && MPI_Wtime() < until;) {
    if (MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (flag == 0) sched_yield();
  }
}

int mpi_count(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error("a message of {} bytes is too long for MPI: cut the buffer into calls below 2 GiB", bytes);
  }
  return static_cast<int>(bytes);
}

}  // namespace

Messages::Messages(MPI_Comm comm, bool blocking_waits) : comm_(comm), blocking_waits_(blocking_waits) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
}

Messages::~Messages() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (!blocking_waits_) listen();  // takes in bad news that nobody asked for
  MPI_Comm_free(&comm_);
}

run::Transport::Ticket Messages::fresh() {
  if (free_.empty()) {
    operations_.emplace_back();
    return static_cast<Ticket>(operations_.size() - 1);
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  operations_[static_cast<std::size_t>(ticket)] = Operation{};
  return ticket;
}

run::Transport::Ticket Messages::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  const Ticket ticket = fresh();
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  check(MPI_Isend(data, mpi_count(bytes), MPI_BYTE, to, static_cast<int>(tag), comm_, &operation.request), "MPI_Isend");
  return ticket;
}

run::Transport::Ticket Messages::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket = fresh();
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  operation.from = from;
  operation.bytes = bytes;
  check(MPI_Irecv(data, mpi_count(bytes), MPI_BYTE, from, static_cast<int>(tag), comm_, &operation.request),
        "MPI_Irecv");
  return ticket;
}

bool Messages::done(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  int flag = 0;
  MPI_Status status{};
  int code = MPI_SUCCESS;
  if (operation.waited) {
    flag = 1;
    status = operation.status;
  } else if (!blocking_waits_) {
    code = MPI_Test(&operation.request, &flag, &status);
  }
  if (flag == 0 && code == MPI_SUCCESS) return false;
  free_.push_back(ticket);
  check(code, "a message of a collective (ranks that pass different sizes?)");
  if (operation.from >= 0) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (static_cast<std::size_t>(count) != operation.bytes) {
      throw Error("rank {} expected a message of {} bytes from rank {} and got {}: all ranks must pass the same size",
                  rank_, operation.bytes, operation.from, count);
    }
  }
  return true;
}

void Messages::wait(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  if (operation.waited) return;
  check(MPI_Wait(&operation.request, &operation.status), "MPI_Wait");
  operation.waited = true;
}

void Messages::abandon(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  if (operation.request != MPI_REQUEST_NULL) {
    const bool receives = operation.from >= 0;
    if (receives) MPI_Cancel(&operation.request);
    if (!blocking_waits_) settle(operation.request, receives ? 10.0 : 0.2);
    if (operation.request != MPI_REQUEST_NULL) MPI_Request_free(&operation.request);
  }
  free_.push_back(ticket);
}

void Messages::tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why) {
  if (blocking_waits_) return;
  // The messages outlive this call and perhaps this object: their memory is never given back.
  auto* news = new News{first, last, refusal, {}};
  std::memcpy(news->why, why.data(), std::min(why.size(), sizeof(news->why) - 1));
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(news, sizeof(News), MPI_BYTE, r, kNewsTag, comm_, &request) == MPI_SUCCESS) MPI_Request_free(&request);
  }
}

void Messages::report(std::uint64_t first, std::uint64_t last, const std::string& why) {
  tell_all(first, last, false, why);
}

void Messages::refuse(std::uint64_t number, const std::string& why) { tell_all(number, number, true, why); }

void Messages::listen() {
  int flag = 0;
  MPI_Status status{};
  while (MPI_Iprobe(MPI_ANY_SOURCE, kNewsTag, comm_, &flag, &status) == MPI_SUCCESS && flag != 0) {
    News news{};
    MPI_Recv(&news, sizeof news, MPI_BYTE, status.MPI_SOURCE, kNewsTag, comm_, MPI_STATUS_IGNORE);
    if (news.refusal) heard_.refuse(news.first, news.why);
    else heard_.report(news.first, news.last, news.why);
  }
}

bool Messages::failed(std::uint64_t number, const std::vector<std::uint64_t>& own) {
  if (blocking_waits_) return false;
  listen();
  return heard_.concerns(number, own);
}

}  // namespace chasqui::mpi
