// SPDX-License-Identifier: MIT
#include "c/boundary.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "chasqui/base/version.hpp"

namespace chasqui::c {

std::string& last_words() {
  thread_local std::string words;
  return words;
}

int code_of_exception() noexcept {
  try {
    throw;
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

char* copied(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  return static_cast<char*>(std::memcpy(copy, text.c_str(), text.size() + 1));
}

}  // namespace chasqui::c

extern "C" {

const char* chasqui_version(void) { return chasqui::version(); }

const char* chasqui_last_error(void) { return chasqui::c::last_words().c_str(); }

void chasqui_free(char* text) { std::free(text); }

}  // extern "C"
