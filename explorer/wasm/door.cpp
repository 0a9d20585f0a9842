// SPDX-License-Identifier: MIT
// The C boundary that JavaScript calls.
#include <emscripten/emscripten.h>

#include "explorer/engine/engine.hpp"

/// The answer stays valid until the next call.
extern "C" EMSCRIPTEN_KEEPALIVE const char* chasqui_answer(const char* question) {
  static std::string last;
  last = chasqui::explorer::answer(question);
  return last.c_str();
}
