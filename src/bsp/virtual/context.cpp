// SPDX-License-Identifier: MIT
#include "bsp/virtual/context.hpp"

#include <cxxabi.h>

#include <memory>
#include <utility>

#ifdef CHASQUI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CHASQUI_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace chasqui::bsp::detail {

namespace {

/// Registers are saved below the frame that suspends.
constexpr std::size_t kSaved = 256;

/// The stack belongs to the machine: nothing to allocate or free.
struct BorrowedStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

Context::~Context() {
#ifdef CHASQUI_ASAN
  // Some of its frames never returned, and whatever is mapped there next would find their marks.
  __asan_unpoison_memory_region(stack(), bytes_);
#endif
#ifdef CHASQUI_TSAN
  // It never returned (see enter), and must not be unwound: nobody destroys this handle.
  alignas(boost::context::fiber) std::byte grave[sizeof(boost::context::fiber)];
  new (grave) boost::context::fiber(std::move(inside_));
  if (tsan_inside_ != nullptr) __tsan_destroy_fiber(tsan_inside_);
#endif
}

void** Context::exceptions_of_thread() { return reinterpret_cast<void**>(abi::__cxa_get_globals()); }

/// Exceptions being handled belong to the context, but the runtime keeps them per thread: two words, exchanged.
void Context::swap_exceptions(void** of_thread) {
  std::swap(of_thread[0], exceptions_[0]);
  std::swap(of_thread[1], exceptions_[1]);
}

void Context::begin(void (*entry)(void*), void* argument) {
#ifdef CHASQUI_TSAN
  // Making a context runs its first lines: their shadow frames belong to it.
  tsan_inside_ = __tsan_create_fiber(0);
  void* const here = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_inside_, 0);
#endif
  boost::context::stack_context place;
  place.sp = top_;
  place.size = bytes_;
  inside_ = boost::context::fiber(std::allocator_arg, boost::context::preallocated(place.sp, place.size, place),
                                  BorrowedStack{}, [this, entry, argument](boost::context::fiber&& caller) {
                                    outside_ = std::move(caller);
                                    enter(entry, argument);
                                    return std::move(outside_);
                                  });
#ifdef CHASQUI_TSAN
  __tsan_switch_to_fiber(here, 0);
#endif
}

void Context::enter(void (*entry)(void*), void* argument) {
#ifdef CHASQUI_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &outside_stack_, &outside_bytes_);
#endif
  entry(argument);
  finished_ = true;
#ifdef CHASQUI_ASAN
  __sanitizer_start_switch_fiber(nullptr, outside_stack_, outside_bytes_);
#endif
#ifdef CHASQUI_TSAN
  // Leaves for good without returning: the returns would be booked to the outside's shadow frames.
  __tsan_switch_to_fiber(tsan_outside_, 0);
  outside_ = std::move(outside_).resume();
#endif
}

void Context::resume(void** exceptions, void (*entry)(void*), void* argument) {
  if (!inside_) [[unlikely]]
    begin(entry, argument);
  swap_exceptions(exceptions);
#ifdef CHASQUI_ASAN
  __sanitizer_start_switch_fiber(&outside_fake_stack_, stack(), bytes_);
#endif
#ifdef CHASQUI_TSAN
  tsan_outside_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_inside_, 0);
#endif
  inside_ = std::move(inside_).resume();
#ifdef CHASQUI_ASAN
  __sanitizer_finish_switch_fiber(outside_fake_stack_, nullptr, nullptr);
#endif
  swap_exceptions(exceptions);
}

void Context::suspend() {
  suspended_at_ = static_cast<const std::byte*>(__builtin_frame_address(0)) - kSaved;
#ifdef CHASQUI_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, outside_stack_, outside_bytes_);
#endif
#ifdef CHASQUI_TSAN
  __tsan_switch_to_fiber(tsan_outside_, 0);
#endif
  outside_ = std::move(outside_).resume();
#ifdef CHASQUI_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &outside_stack_, &outside_bytes_);
#endif
}

}  // namespace chasqui::bsp::detail
