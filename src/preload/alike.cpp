// SPDX-License-Identifier: MIT
#include "preload/alike.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "preload/attempt.hpp"
#include "preload/native.hpp"

namespace chasqui::preload {

int make_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> made, bool able) {
  constexpr int kBits = 50;
  constexpr std::int64_t kLonger = (std::int64_t{1} << kBits) - 1;
  const auto in_words = [](std::int64_t call) {
    if (call < 0) return std::string("one after a call that others made with another length");
    return fmt::format("MPI_{} of {} bytes", to_string(static_cast<Collective>(call >> kBits)), call & kLonger);
  };
  const auto length = static_cast<std::int64_t>(std::min<std::size_t>(kLonger, bytes));
  const std::int64_t mine = bytes == kAstray ? -1 : static_cast<std::int64_t>(what) << kBits | length;
  std::int64_t most_of[3] = {-mine, mine, able ? 0 : 1};
  const int code = CHASQUI_LIBRARY(Allreduce)(MPI_IN_PLACE, most_of, 3, MPI_INT64_T, MPI_MAX, comm);
  if (code != MPI_SUCCESS) return code;
  const std::int64_t least = -most_of[0], most = most_of[1];
  if (least == most) return most_of[2] == 0 ? made() : kDeclined;
  return raise(comm, MPI_ERR_OTHER,
               fmt::format("MPI_{}: ranks have called different things: {} and {}", to_string(what), in_words(least),
                           in_words(most)));
}

int pass_on_alike(Collective what, MPI_Comm comm, std::size_t bytes, FunctionRef<int()> native) {
  const int code = make_alike(what, comm, bytes, native);
  return code == kDeclined ? native() : code;
}

}  // namespace chasqui::preload
