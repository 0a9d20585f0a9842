// SPDX-License-Identifier: MIT
#include "bsp/mpi/mail.hpp"

#include <utility>

#include "mpi/check.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr int kTag = 1;
constexpr std::size_t kMostSpare = 16;  ///< buffers that are kept

}  // namespace

MpiMail::MpiMail(MpiFate& fate, std::int32_t ranks) : fate_(fate), out_(static_cast<std::size_t>(ranks)) {
  spare_.reserve(kMostSpare);
}

void MpiMail::open(MPI_Comm communicator) {
  mpi::check(MPI_Comm_dup(communicator, &comm_), "MPI_Comm_dup");
  mpi::check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  fate_.belongs_to(comm_);
}

MpiMail::~MpiMail() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void MpiMail::flush(std::int32_t to) {
  Buffer& bytes = out(to);
  if (bytes.empty()) return;
  fate_.insist([&] {
    Flying& one = flying_.emplace_back();
    const int code = MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kTag, comm_, &one.request);
    if (code == MPI_SUCCESS) return;
    flying_.pop_back();
    fate_.refuse(code, "MPI_Isend");
  });
  flying_.back().bytes = std::move(bytes);
  flying_.back().last = fate_.ending();
  bytes = spare();
  ++sent_;
}

void MpiMail::flush_all() {
  for (std::size_t to = 0; to < out_.size(); ++to) flush(static_cast<std::int32_t>(to));
}

void MpiMail::send(std::int32_t to, const RecordHead& head, std::span<const std::byte> bytes) {
  flush(to);
  fate_.insist([&] { append(out(to), head, bytes); });
  flush(to);
}

void MpiMail::send_uncounted(std::int32_t to, const RecordHead& head, std::span<const std::byte> bytes) {
  send(to, head, bytes);
  --sent_;
}

void MpiMail::drop() {
  for (Buffer& bytes : out_) bytes.resize(0);
}

void MpiMail::reap() {
  while (!flying_.empty()) {
    int done = 0;
    const int code = MPI_Test(&flying_.front().request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      const bool lost = flying_.front().request == MPI_REQUEST_NULL;
      if (lost && fate_.ending() && (!fate_.failed() || flying_.front().last))
        fate_.end_job("MPI_Test failed and a message is lost");
      if (!lost || !fate_.ending()) fate_.refuse(code, "MPI_Test");
      done = 1;  // nobody needs it any more
    }
    if (done == 0) return;
    keep(std::move(flying_.front().bytes));
    flying_.pop_front();
  }
}

std::optional<Buffer> MpiMail::next() {
  int there = 0;
  MPI_Status status;
  fate_.check(MPI_Iprobe(MPI_ANY_SOURCE, kTag, comm_, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  int bytes = 0;
  fate_.check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  Buffer buffer = spare();
  buffer.extend(static_cast<std::size_t>(bytes));
  // Nobody else receives on this communicator: the first of that sender is the one that was seen.
  const int code = MPI_Recv(buffer.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kTag, comm_, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) {
    // Is it lost? What matters then is the last message of a sender: nothing comes behind it.
    there = 0;
    if (MPI_Iprobe(status.MPI_SOURCE, kTag, comm_, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS || there == 0)
      fate_.end_job("MPI_Recv failed and a message is lost");
    fate_.refuse(code, "MPI_Recv");
  }
  return buffer;
}

Buffer MpiMail::spare() {
  if (spare_.empty()) return {};
  Buffer buffer = std::move(spare_.back());
  spare_.pop_back();
  buffer.resize(0);
  return buffer;
}

void MpiMail::keep(Buffer buffer) {
  if (buffer.capacity() > 0 && spare_.size() < kMostSpare) spare_.push_back(std::move(buffer));
}

}  // namespace chasqui::bsp::detail
