// SPDX-License-Identifier: MIT
#include "preload/component/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CHASQUI_FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHASQUI_FIBER_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CHASQUI_FIBER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHASQUI_FIBER_TSAN
#endif
#endif
#ifdef CHASQUI_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CHASQUI_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace chasqui::preload {
namespace {

#if defined(CHASQUI_FIBER_ASAN) || defined(CHASQUI_FIBER_TSAN)
constexpr std::size_t kStack = 1 << 20;  // frames are larger there
#else
constexpr std::size_t kStack = 256 * 1024;  // of which the kernel gives the pages that are touched
#endif

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  void* const memory =
      mmap(nullptr, kStack + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, page(), PROT_NONE);  // whoever needs more than there is ends here, and not in others' memory
  stack_ = static_cast<std::byte*>(memory) + page();
}

void Fiber::abandon() {
  if (begun_ && !ended_) {
    abandoned_ = true;
    resume();
  }
  ended_ = true;
}

Fiber::~Fiber() {
  abandon();
#ifdef CHASQUI_FIBER_TSAN
  if (watched_.inside != nullptr) __tsan_destroy_fiber(watched_.inside);
#endif
#ifdef CHASQUI_FIBER_ASAN
  __asan_unpoison_memory_region(stack_, kStack);
#endif
  munmap(stack_ - page(), kStack + page());
}

/// Exceptions being handled belong to the body or to the caller, but the runtime keeps them for a thread: two words.
void Fiber::swap_exceptions() {
  auto** const of_thread = reinterpret_cast<void**>(abi::__cxa_get_globals());
  std::swap(of_thread[0], exceptions_[0]);
  std::swap(of_thread[1], exceptions_[1]);
}

void Fiber::resume() {
  if (!begun_) {
    begun_ = true;
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_;
    inside_.uc_stack.ss_size = kStack;
    inside_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inside_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self & 0xffffffffu),
                static_cast<unsigned>(self >> 32));
#ifdef CHASQUI_FIBER_TSAN
    watched_.inside = __tsan_create_fiber(0);
#endif
  }
  swap_exceptions();
#ifdef CHASQUI_FIBER_ASAN
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, stack_, kStack);
#endif
#ifdef CHASQUI_FIBER_TSAN
  watched_.outside = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(watched_.inside, 0);
#endif
  swapcontext(&outside_, &inside_);
#ifdef CHASQUI_FIBER_ASAN
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  swap_exceptions();
}

void Fiber::suspend() {
#ifdef CHASQUI_FIBER_ASAN
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, watched_.outside_stack, watched_.outside_bytes);
#endif
#ifdef CHASQUI_FIBER_TSAN
  __tsan_switch_to_fiber(watched_.outside, 0);
#endif
  swapcontext(&inside_, &outside_);
#ifdef CHASQUI_FIBER_ASAN
  __sanitizer_finish_switch_fiber(own, &watched_.outside_stack, &watched_.outside_bytes);
#endif
  if (abandoned_) throw Abandoned();
}

void Fiber::enter(unsigned low, unsigned high) {
  reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(low) | static_cast<std::uintptr_t>(high) << 32)->run();
}

void Fiber::run() {
#ifdef CHASQUI_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &watched_.outside_stack, &watched_.outside_bytes);
#endif
  try {
    body_();
  } catch (const Abandoned&) {
  }
  ended_ = true;
#ifdef CHASQUI_FIBER_ASAN
  __sanitizer_start_switch_fiber(nullptr, watched_.outside_stack, watched_.outside_bytes);
#endif
#ifdef CHASQUI_FIBER_TSAN
  __tsan_switch_to_fiber(watched_.outside, 0);
#endif
  setcontext(&outside_);  // for good
}

}  // namespace chasqui::preload
