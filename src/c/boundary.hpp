// SPDX-License-Identifier: MIT
// What every function of chasqui.h goes through: no exception leaves it, and each failure is a code and a line of text.
#pragma once

#include <exception>
#include <new>
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

/// Runs `body` and returns 0, or the code of what it threw.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    last_words().clear();
    body();
    return 0;
  } catch (const Error& error) {
    last_words() = error.what();
    return CHASQUI_ERROR_INPUT;
  } catch (const std::bad_alloc&) {
    last_words() = "out of memory";  // fits into the string itself
    return CHASQUI_ERROR_MEMORY;
  } catch (const std::exception& error) {
    last_words() = std::string("unexpected: ") + error.what();
    return CHASQUI_ERROR_BUG;
  }
}

}  // namespace chasqui::c
