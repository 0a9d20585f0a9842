// SPDX-License-Identifier: MIT
#include "mpi/messages.hpp"

#include <sched.h>
#include <time.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "mpi/check.hpp"

namespace chasqui::mpi {
namespace {

double now() { return MPI_Wtime() * 1e9; }

void sleep_until(double nanoseconds) {
  const double left = std::ceil(nanoseconds - now());
  if (left <= 0) return;
  const double seconds = std::floor(left / 1e9);
  const timespec time{static_cast<time_t>(seconds), static_cast<long>(left - seconds * 1e9)};
  nanosleep(&time, nullptr);
}

/// A long message that is arriving cannot be called off, and its buffer is about to go: gives it time to end. One that
/// nobody will take never ends, and touches nothing.
void settle(MPI_Request& request, double until) {
  int flag = 0;
  while (flag == 0 && MPI_Wtime() < until) {
    if (MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (flag == 0) sched_yield();
  }
}

}  // namespace

run::Timing simulated_time() { return {true, now, sleep_until}; }

run::Transport::Ticket Messages::fresh(int from, std::size_t bytes) {
  CHASQUI_CHECK(bytes <= kLongest, "a message of {} bytes that nobody cut", bytes);
  under_way_.make_room();
  return operations_.take({.from = from, .bytes = bytes});
}

run::Transport::Ticket Messages::started(Ticket ticket, int code, const char* call, MPI_Request request) {
  if (code != MPI_SUCCESS) operations_.give_back(ticket);
  check(code, call);
  operations_[ticket].place = under_way_.add(ticket, request);
  return ticket;
}

run::Transport::Ticket Messages::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  const Ticket ticket = fresh(-1, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, channel_->place(to), channel_->tag(tag, bytes),
                             channel_->comm(), &request);
  return started(ticket, code, "MPI_Isend", request);
}

run::Transport::Ticket Messages::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket = fresh(from, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, channel_->place(from), channel_->tag(tag, bytes),
                             channel_->comm(), &request);
  return started(ticket, code, "MPI_Irecv", request);
}

void Messages::call_off(MPI_Request& request, bool receives) {
  channel_->disturbed = true;
  if (request == MPI_REQUEST_NULL) return;
  if (receives) MPI_Cancel(&request);
  settle(request, MPI_Wtime() + (blocking_waits_ ? 0 : receives ? 10.0 : 0.2));
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/// It is under way no longer.
void Messages::complete(Ticket ticket, int code, const MPI_Status& status) {
  Operation& operation = operations_[ticket];
  const Ticket moved = under_way_.remove(operation.place);
  if (moved != run::kNoTicket) operations_[moved].place = operation.place;
  operation.complete = true;
  operation.code = code;
  if (operation.from < 0 || code != MPI_SUCCESS) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  operation.arrived = static_cast<std::size_t>(count);
}

void Messages::wait(Ticket ticket) {
  const Operation& operation = operations_[ticket];
  if (operation.complete) return;
  MPI_Status status{};
  const int code = MPI_Wait(&under_way_[operation.place], &status);
  complete(ticket, code, status);
}

/// Ends it if it is there.
bool Messages::look(Ticket ticket) {
  Operation& operation = operations_[ticket];
#ifdef OPEN_MPI
  if (std::exchange(operation.looked, false)) return false;
  for (const Ticket owner : under_way_.owners_with(operation.place)) operations_[owner].looked = true;
  operation.looked = false;
  std::array<UnderWay::Complete, UnderWay::kAtOnce> found;
  const std::size_t count = under_way_.look_with(operation.place, found);
  for (std::size_t i = 0; i < count; ++i) complete(found[i].owner, found[i].code, found[i].status);
  return operation.complete;
#else  // looks at one and polls only if it is not complete: MPI_Test and its like poll for what is complete, too
  MPI_Request& request = under_way_[operation.place];
  int flag = 0;
  MPI_Status status{};
  int code = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && flag == 0) return false;
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
  else call_off(request, operation.from >= 0);  // it is under way still, and its buffer is about to go
  complete(ticket, code, status);
  return true;
#endif
}

bool Messages::done(Ticket ticket) {
  Operation& operation = operations_[ticket];
  if (!operation.complete && (blocking_waits_ || !look(ticket))) return false;
  operations_.give_back(ticket);
  check(operation.code, "a message of a collective (ranks that pass different sizes?)");
  if (operation.from >= 0 && operation.arrived != operation.bytes) {
    throw Error("rank {} expected a message of {} bytes from rank {} and got {}: all ranks must pass the same size",
                channel_->rank, operation.bytes, operation.from, operation.arrived);
  }
  return true;
}

void Messages::abandon(Ticket ticket) {
  if (OpenChannel::ended()) {
    channel_->disturbed = true;
    return;
  }
  const Operation& operation = operations_[ticket];
  if (!operation.complete) {
    call_off(under_way_[operation.place], operation.from >= 0);
    complete(ticket, MPI_ERR_OTHER, {});
  } else {
    channel_->disturbed = true;
  }
  operations_.give_back(ticket);
}

}  // namespace chasqui::mpi
