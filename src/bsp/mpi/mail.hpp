// SPDX-License-Identifier: MIT
// Messages of MPI between the ranks of a machine: what is for one rank is packed into one buffer until it is sent.
#pragma once

#include <mpi.h>

#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bsp/mpi/fate.hpp"
#include "bsp/mpi/wire.hpp"

namespace chasqui::bsp::detail {

class MpiMail {
 public:
  static constexpr std::size_t kMostBytes =
      static_cast<std::size_t>(std::numeric_limits<int>::max()) - 4096;  ///< of one

  MpiMail(MpiFate& fate, std::int32_t ranks);
  /// Collective: between the ranks of this communicator, apart from its messages.
  void open(MPI_Comm communicator);
  ~MpiMail();
  MpiMail(const MpiMail&) = delete;
  MpiMail& operator=(const MpiMail&) = delete;

  /// What will be sent to that rank next: records (mpi_wire.hpp).
  Buffer& out(std::int32_t to) { return out_[static_cast<std::size_t>(to)]; }
  void flush(std::int32_t to);
  void flush_all();
  /// As a message of its own.
  void send(std::int32_t to, const RecordHead& head, std::span<const std::byte> bytes);
  /// Not one of the program's.
  void send_uncounted(std::int32_t to, const RecordHead& head, std::span<const std::byte> bytes);
  void drop();                                         ///< what has not been sent, perhaps half a record
  void reap();                                         ///< what has arrived is forgotten
  bool under_way() const { return !flying_.empty(); }  ///< has something not arrived yet?
  std::uint64_t sent() const { return sent_; }         ///< messages of the program

  /// A message that has come, if any.
  std::optional<Buffer> next();

  /// Buffers that were used before.
  Buffer spare();
  void keep(Buffer buffer);

 private:
  struct Flying {
    MPI_Request request = MPI_REQUEST_NULL;
    Buffer bytes;
    bool last = false;  ///< it says how the program ended
  };

  MpiFate& fate_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Buffer> out_;
  std::deque<Flying> flying_;
  std::vector<Buffer> spare_;
  std::uint64_t sent_ = 0;
};

}  // namespace chasqui::bsp::detail
