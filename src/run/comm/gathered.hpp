// SPDX-License-Identifier: MIT
// A fold in rank order where no board does it: whoever wants the result gets all contributions and folds them itself.
#pragma once

#include <cstddef>
#include <memory>

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// Such a fold as the collective that brings the contributions: its output is unpacked by folding.
class Gathered {
 public:
  Gathered(const Call& fold, std::shared_ptr<const void> kept, int rank, int size);

  /// It refers to this object.
  Call call() const;

 private:
  void fold(void* to, const std::byte* all) const;

  Call fold_;
  std::shared_ptr<const void> kept_;  ///< as Comm::start() has it
  int last_;                          ///< ranks 0 .. last_-1 are folded
};

}  // namespace chasqui::run
