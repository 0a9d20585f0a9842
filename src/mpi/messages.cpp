// SPDX-License-Identifier: MIT
#include "mpi/messages.hpp"

#include <sched.h>
#include <time.h>

#include <cmath>
#include <cstddef>

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
  return operations_.take({.from = from, .bytes = bytes});
}

run::Transport::Ticket Messages::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  const Ticket ticket = fresh(-1, bytes);
  check(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, channel_->place(to), channel_->tag(tag, bytes),
                  channel_->comm(), &operations_[ticket].request),
        "MPI_Isend");
  return ticket;
}

run::Transport::Ticket Messages::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket = fresh(from, bytes);
  check(MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, channel_->place(from), channel_->tag(tag, bytes),
                  channel_->comm(), &operations_[ticket].request),
        "MPI_Irecv");
  return ticket;
}

void Messages::call_off(Operation& operation) {
  channel_->disturbed = true;
  if (operation.request == MPI_REQUEST_NULL) return;
  const bool receives = operation.from >= 0;
  if (receives) MPI_Cancel(&operation.request);
  settle(operation.request, MPI_Wtime() + (blocking_waits_ ? 0 : receives ? 10.0 : 0.2));
  if (operation.request != MPI_REQUEST_NULL) MPI_Request_free(&operation.request);
}

void Messages::complete(Operation& operation, int code, const MPI_Status& status) {
  operation.request = MPI_REQUEST_NULL;  // libraries differ in whether they do so after an error
  operation.complete = true;
  operation.code = code;
  if (operation.from < 0 || code != MPI_SUCCESS) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  operation.arrived = static_cast<std::size_t>(count);
}

void Messages::wait(Ticket ticket) {
  Operation& operation = operations_[ticket];
  if (operation.complete) return;
  MPI_Status status{};
  const int code = MPI_Wait(&operation.request, &status);
  complete(operation, code, status);
}

/// Ends it if it is there. The library polls its network once, and only if the message is not complete: MPI_Test and its
/// like poll for what is complete, too, in MPICH.
bool Messages::look(Operation& operation) {
  int flag = 0;
  MPI_Status status{};
#ifdef OPEN_MPI
  const int code = MPI_Test(&operation.request, &flag, &status);
  if (code == MPI_SUCCESS && flag == 0) return false;
#else
  int code = MPI_Request_get_status(operation.request, &flag, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && flag == 0) return false;
  if (code == MPI_SUCCESS) code = MPI_Wait(&operation.request, &status);
  else call_off(operation);  // it is under way still, and its buffer is about to go
#endif
  complete(operation, code, status);
  return true;
}

bool Messages::done(Ticket ticket) {
  Operation& operation = operations_[ticket];
  if (!operation.complete && (blocking_waits_ || !look(operation))) return false;
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
  call_off(operations_[ticket]);
  operations_.give_back(ticket);
}

}  // namespace chasqui::mpi
