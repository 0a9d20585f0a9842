// SPDX-License-Identifier: MIT
#include "run/call/signature.hpp"

#include <fmt/core.h>

namespace chasqui::run {

std::string to_text(const Signature& call) {
  if (!call.known()) return "something it does not remember";
  if (call == Signature::own()) return "an operation of its own";
  const Kind kind = call.kind();
  if (kind == Kind::barrier) return "barrier";
  if ((call.what & Signature::kUneven) != 0) return fmt::format("{} of uneven blocks", to_string(kind));
  std::string text = fmt::format("{}{} of {} x {} bytes", (call.what & Signature::kExclusive) != 0 ? "exclusive " : "",
                                 to_string(kind), call.count, call.element);
  if (has_root(kind)) {
    const bool outwards = kind == Kind::broadcast || kind == Kind::scatter;
    text += fmt::format(" {} rank {}", outwards ? "from" : "to", call.root());
  }
  if ((call.what & Signature::kInOrder) != 0) text += ", in rank order";
  return text;
}

}  // namespace chasqui::run
