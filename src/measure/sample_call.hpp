// SPDX-License-Identifier: MIT
// A collective on buffers of its own, to be timed or recorded: doubles, summed where it folds.
#pragma once

#include <algorithm>
#include <vector>

#include "chasqui/run/call.hpp"
#include "run/call/kinds.hpp"

namespace chasqui::measure {

class SampleCall {
 public:
  /// So many bytes of each rank, rounded up to doubles. A barrier has none.
  SampleCall(Kind kind, std::size_t bytes, int ranks) { become(kind, bytes, ranks); }
  /// Another one, in the same memory where that is large enough.
  void become(Kind kind, std::size_t bytes, int ranks) {
    static const run::Sum sum;
    const std::size_t count = (bytes + sizeof(double) - 1) / sizeof(double);
    in_.assign(count * (run::has_blocks(kind) ? static_cast<std::size_t>(ranks) : 1), 1.0);
    out_.assign(in_.size(), 0.0);
    call_.kind = kind;
    call_.in = in_.data();
    call_.out = out_.data();
    call_.count = kind == Kind::barrier ? 0 : static_cast<std::int64_t>(count);
    call_.element = sizeof(double);
    call_.op = run::operator_of<double>(sum, true);
  }
  /// Writes anew what a rank brings, as programs do: it lies in this core's cache and in nobody else's.
  void refresh() {
    std::vector<double>& brought = call_.kind == Kind::broadcast ? out_ : in_;
    std::fill(brought.begin(), brought.end(), 1.0);
  }
  SampleCall(SampleCall&&) = default;
  SampleCall& operator=(SampleCall&&) = default;

  const run::Call& call() const { return call_; }
  std::vector<double>& in() { return in_; }
  std::vector<double>& out() { return out_; }

 private:
  std::vector<double> in_, out_;
  run::Call call_;
};

}  // namespace chasqui::measure
