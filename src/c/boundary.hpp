// SPDX-License-Identifier: MIT
// What every function of chasqui.h goes through: no exception leaves it, and each failure is a code and a line of text.
#pragma once

#include <string>

#include "chasqui/base/error.hpp"
#include "chasqui/chasqui.h"

namespace chasqui::c {

/// What chasqui_last_error() shows to this thread.
std::string& last_words();

/// Allocated as chasqui_free expects it. Throws std::bad_alloc.
char* copied(const std::string& text);

/// Throws an Error that names the argument if it is a null pointer.
template <typename T>
T* given(T* pointer, const char* name) {
  if (pointer == nullptr) throw Error("{} is a null pointer", name);
  return pointer;
}

/// The code of the exception that is being handled, whose text becomes the last words.
int code_of_exception() noexcept;

/// Runs `body` and returns 0, or the code of what it threw. The last words stay unless it throws: to find this thread's takes as
/// long as many a call.
template <typename Body>
int guarded_call(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return code_of_exception();
  }
}

/// The same, and the last words are those of this call.
template <typename Body>
int guarded(Body&& body) noexcept {
  return guarded_call([&] {
    last_words().clear();
    body();
  });
}

}  // namespace chasqui::c
