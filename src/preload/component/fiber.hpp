// SPDX-License-Identifier: MIT
// A function with a stack of its own, which may stop in the middle and go on later: what is written as if it waited goes on a
// step at a time. Of the C library; a few switches in a life, each of which asks the kernel for the mask of signals.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace chasqui::preload {

/// INVARIANT: while the body has not ended, all its frames lie on `stack_`, and nobody else's.
class Fiber {
 public:
  /// Thrown by suspend() into a body that shall end. No std::exception: nobody on the way takes it for a failure.
  struct Abandoned {};

  /// The body throws nothing but Abandoned. Throws std::bad_alloc where there is no memory for the stack.
  explicit Fiber(std::function<void()> body);
  ~Fiber();  ///< abandons it
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs it until it suspends or ends. REQUIRES that it has not ended, and is not called within.
  void resume();
  bool ended() const { return ended_; }
  /// Within the body: back to whoever resumed it.
  void suspend();
  /// What has not ended is unwound, by Abandoned.
  void abandon();

 private:
  static void enter(unsigned low, unsigned high);
  void run();
  void swap_exceptions();

  std::function<void()> body_;
  std::byte* stack_ = nullptr;
  ucontext_t inside_{}, outside_{};
  void* exceptions_[2] = {nullptr, nullptr};
  bool begun_ = false, ended_ = false, abandoned_ = false;
  /// What the sanitizers know of it.
  struct Watched {
    void *inside = nullptr, *outside = nullptr;
    const void* outside_stack = nullptr;
    std::size_t outside_bytes = 0;
  } watched_;
};

}  // namespace chasqui::preload
