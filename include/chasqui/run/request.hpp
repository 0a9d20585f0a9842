// SPDX-License-Identifier: MIT
// A collective that has been started. Waiting, or testing until true, completes it; the communicator and the buffers
// must live until then.
#pragma once

#include <memory>

namespace chasqui::run {

class Comm;
struct Operation;

class Request {
 public:
  Request();
  Request(Comm* comm, std::shared_ptr<Operation> operation);

  /// True when the collective is complete; advances all collectives in flight. Throws the Error it failed with.
  bool test();
  void wait();
  bool active() const { return operation_ != nullptr; }

 private:
  Comm* comm_ = nullptr;
  std::shared_ptr<Operation> operation_;
};

}  // namespace chasqui::run
