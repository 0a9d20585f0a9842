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
  void start(std::byte* stack, std::size_t bytes, void (*entry)(void*), void* argument) {
    stack_ = stack, bytes_ = bytes, entry_ = entry, argument_ = argument;
  }
  /// The C++ runtime's exception state of this thread.
  static void** exceptions_of_thread();
  /// Runs the context on this thread, whose exceptions_of_thread() the caller knows, until it suspends or its entry returns.
  void resume(void** exceptions);
  /// Called inside the context: back to the thread that resumed it.
  void suspend();
  bool finished() const { return finished_; }
  /// Asks for the memory that the next resume() needs first: what lies between the top of the stack and where it suspended.
  void prefetch() const {
    for (const std::byte* line = suspended_at_; line < prefetch_end_; line += 64) __builtin_prefetch(line, 1);
  }

 private:
  void begin();
  void enter();
  void swap_exceptions();

  boost::context::fiber inside_;
  boost::context::fiber outside_;
  void** thread_exceptions_ = nullptr;  ///< of the thread it runs on
  void* exceptions_[2] = {nullptr, nullptr};
  const std::byte* suspended_at_ = nullptr;
  const std::byte* prefetch_end_ = nullptr;
  bool finished_ = false;
  std::byte* stack_ = nullptr;
  std::size_t bytes_ = 0;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  // Sanitizers only.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* outside_fake_stack_ = nullptr;
  [[maybe_unused]] const void* outside_stack_ = nullptr;
  [[maybe_unused]] std::size_t outside_bytes_ = 0;
  [[maybe_unused]] void* tsan_inside_ = nullptr;
  [[maybe_unused]] void* tsan_outside_ = nullptr;
};

}  // namespace chasqui::bsp::detail
