// SPDX-License-Identifier: MIT
#include "c/boundary.hpp"

#include <cstdlib>
#include <cstring>

#include "chasqui/base/version.hpp"

namespace chasqui::c {

std::string& last_words() {
  thread_local std::string words;
  return words;
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
