// SPDX-License-Identifier: MIT
// A collective that has been started. Waiting, or testing until true, completes it; the communicator and the buffers
// must live until then.
#pragma once

#include <memory>

namespace chasqui::run {

class Comm;
struct Operation;
/// A collective that was started; empty: one that is complete.
class [[nodiscard("wait for it, or its buffers may go too early")]] Request {
 public:
  Request();
  Request(Comm * comm, std::shared_ptr<Operation> operation);  ///< for Comm::start

  /// True when the collective is complete; advances all collectives in flight. Throws the Error it failed with.
  bool test();
  void wait();                                           ///< returns when it is complete; throws the collective's Error
  bool active() const { return operation_ != nullptr; }  ///< started and not yet known to be complete?

 private:
  Comm* comm_ = nullptr;
  std::shared_ptr<Operation> operation_;
};

}  // namespace chasqui::run
