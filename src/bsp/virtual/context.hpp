// SPDX-License-Identifier: MIT
// A user-level context that may continue on another thread: Boost.Context, plus what it does not do itself:
// the C++ runtime's exception state travels along, and the sanitizers are told of every switch.
#pragma once

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <cstddef>

#include "chasqui/base/cache.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CHASQUI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHASQUI_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CHASQUI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHASQUI_TSAN 1
#endif
#endif

namespace chasqui::bsp::detail {

class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// On the stack [stack, stack + bytes).
  void place(std::byte* stack, std::size_t bytes) { top_ = stack + bytes, bytes_ = bytes; }
  std::byte* stack() const { return top_ - bytes_; }
  /// The C++ runtime's exception state of this thread.
  static void** exceptions_of_thread();
  /// Runs the context on this thread, whose exceptions_of_thread() the caller knows, until it suspends or its entry returns. The
  /// first time this calls entry(argument), which must not throw.
  void resume(void** exceptions, void (*entry)(void*), void* argument);
  /// Called inside the context: back to the thread that resumed it.
  void suspend();
  bool finished() const { return finished_; }
  /// Asks for the memory that the next resume() needs first: what lies between the first frames and where it suspended.
  void prefetch() const {
    if (suspended_at_ == nullptr) return;
    const std::byte* const end = std::min<const std::byte*>(suspended_at_ + kMostPrefetched, top_ - kFirstFrames);
    for (const std::byte* line = suspended_at_; line < end; line += 64) ask_to_write_line(line);
  }
  /// Asks for the first line of it: the processor learns where its page lies.
  void prefetch_page() const { ask_to_write_line(suspended_at_); }

 private:
  static constexpr std::size_t kMostPrefetched =
      640;                                          ///< more lines than a core asks for at a time make all of them late
  static constexpr std::size_t kFirstFrames = 192;  ///< bytes of those that only begin the context

  void begin(void (*entry)(void*), void* argument);
  void enter(void (*entry)(void*), void* argument);
  void swap_exceptions(void** of_thread);

  boost::context::fiber inside_;
  boost::context::fiber outside_;
  void* exceptions_[2] = {nullptr, nullptr};
  const std::byte* suspended_at_ = nullptr;
  std::byte* top_ = nullptr;
  std::size_t bytes_ = 0;
  bool finished_ = false;
#ifdef CHASQUI_ASAN
  void* fake_stack_ = nullptr;
  void* outside_fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
#endif
#ifdef CHASQUI_TSAN
  void* tsan_inside_ = nullptr;
  void* tsan_outside_ = nullptr;
#endif
};

}  // namespace chasqui::bsp::detail
