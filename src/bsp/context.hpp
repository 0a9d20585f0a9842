// SPDX-License-Identifier: MIT
// A user-level context that may continue on another thread: Boost.Context, plus what it does not do itself:
// the C++ runtime's exception state travels along, and the sanitizers are told of every switch.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace chasqui::bsp::detail {

class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The next resume() calls `entry` on the stack [stack, stack + bytes). `entry` must not throw.
  void start(std::byte* stack, std::size_t bytes, void (*entry)(void*), void* argument);
  /// Runs the context on this thread until it suspends or its entry returns.
  void resume();
  /// Called inside the context: back to the thread that resumed it.
  void suspend();
  bool finished() const { return finished_; }

 private:
  void enter();

  boost::context::fiber inside_;
  boost::context::fiber outside_;
  void* exceptions_[2] = {nullptr, nullptr};
  std::byte* stack_ = nullptr;
  std::size_t bytes_ = 0;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool finished_ = false;
  // Sanitizers only.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* outside_fake_stack_ = nullptr;
  [[maybe_unused]] const void* outside_stack_ = nullptr;
  [[maybe_unused]] std::size_t outside_bytes_ = 0;
  [[maybe_unused]] void* tsan_inside_ = nullptr;
  [[maybe_unused]] void* tsan_outside_ = nullptr;
};

}  // namespace chasqui::bsp::detail
