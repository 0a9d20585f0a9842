// SPDX-License-Identifier: MIT
#include "chasqui/run/signature.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::run {

bool agree(const Signature& a, const Signature& b) {
  using What = Signature::What;
  if (a.what == What::unknown || b.what == What::unknown) return true;
  if (a.what != b.what) return false;
  if (a.what == What::own) return true;
  if (a.kind != b.kind) return false;
  const auto kind = static_cast<Kind>(a.kind);
  if (kind == Kind::barrier) return true;
  if (has_root(kind) && a.root != b.root) return false;
  if (kind == Kind::scan && a.exclusive != b.exclusive) return false;
  if (a.count != b.count) return false;
  if (a.count == 0) return true;
  return a.element == b.element && (!combines(kind) || a.commutative == b.commutative);
}

std::string to_text(const Signature& signature) {
  if (signature.what == Signature::What::unknown) return "something it does not remember";
  if (signature.what == Signature::What::own) return "an operation of its own";
  const auto kind = static_cast<Kind>(signature.kind);
  if (kind == Kind::barrier) return "barrier";
  std::string text = fmt::format("{}{} of {} x {} bytes", kind == Kind::scan && signature.exclusive ? "exclusive " : "",
                                 to_string(kind), signature.count, signature.element);
  if (has_root(kind)) {
    const bool outwards = kind == Kind::broadcast || kind == Kind::scatter;
    text += fmt::format(" {} rank {}", outwards ? "from" : "to", signature.root);
  }
  if (combines(kind) && !signature.commutative) text += ", in rank order";
  return text;
}

Signature RecentCalls::find(std::uint64_t number) const {
  const std::uint64_t oldest = newest_ < kRuns ? 1 : newest_ - kRuns + 1;
  for (std::uint64_t run = newest_; run >= oldest; --run) {
    if (runs_[run % kRuns].number > number) continue;
    Signature found = runs_[run % kRuns];
    found.number = number;
    return found;
  }
  return {.number = number};
}

}  // namespace chasqui::run
