// SPDX-License-Identifier: MIT
// How a program over MPI ends on this rank. A call of MPI that fails is a fault of the machine, told to all like any other. But from a point on
// nobody could be told any more: when a rank has handed its ledger up the others may end well and go, and who has said goodbye is not
// listened to. From there on what fails is tried again, and where that fails too, or a message is lost, the job is ended (MPI_Abort):
// nobody waits for ever.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <string>

#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

class MpiFate {
 public:
  explicit MpiFate(std::int32_t rank) : rank_(rank) {}
  void belongs_to(MPI_Comm job) { job_ = job; }  ///< what is ended where nothing else helps

  bool failed() const { return failed_; }
  bool ending() const { return ending_; }  ///< others may have gone
  void begin_to_end() { ending_ = true; }
  Fault fault() const { return fault_; }             ///< REQUIRES failed
  const std::string& text() const { return text_; }  ///< REQUIRES failed
  /// The first fault counts.
  void fail(Fault fault, std::string text);
  void throw_if_failed() const {
    if (failed_) throw MachineError(fault_, text_);
  }
  void check(int code, const char* what) {
    if (code != MPI_SUCCESS) refuse(code, what);
  }
  /// A call of MPI failed.
  [[noreturn]] void refuse(int code, const char* what);
  [[noreturn]] void end_job(const char* why) const;
  /// What step() returns. When others may have gone already it must: it is tried again, or the job ends. Steps must do nothing
  /// where they throw.
  template <typename Step>
  auto insist(const Step& step) const {
    constexpr int kTries = 3;
    for (int tries = 1;; ++tries) {
      try {
        return step();
      } catch (const std::exception& error) {
        if (!ending_) throw;
        if (tries == kTries) end_job(error.what());
      }
    }
  }

 private:
  std::int32_t rank_;
  MPI_Comm job_ = MPI_COMM_WORLD;
  bool failed_ = false, ending_ = false;
  Fault fault_ = Fault::program;
  std::string text_;
};

}  // namespace chasqui::bsp::detail
