// SPDX-License-Identifier: MIT
// Scans by the functions of the C++ interface, blocking and several of each kind under way at a time.
#include <span>
#include <stdexcept>
#include <vector>

#include "chasqui/base/error.hpp"
#include "suite.hpp"

namespace chasqui::engines {
namespace {

constexpr Affine kUntouched{77, 78};

Affine given(int rank, std::size_t i) {
  const auto x = static_cast<std::uint32_t>(rank), y = static_cast<std::uint32_t>(i);
  return {2 * x + 3, 2654435761u * (x + 1) + y};
}

/// What rank `end` gets from the ranks before it.
Affine fold_before(int end, std::size_t i) {
  if (end == 0) return kUntouched;
  Affine all = given(0, i);
  for (int r = 1; r < end; ++r) all = Compose{}(all, given(r, i));
  return all;
}

}  // namespace

void prefixes(run::Comm& comm) {
  constexpr std::size_t kAtOnce = 4;
  const int me = comm.rank();
  for (const std::size_t n : {0u, 1u, 5u, 300u, 20'001u}) {
    std::vector<Affine> mine(n);
    for (std::size_t i = 0; i < n; ++i) mine[i] = given(me, i);
    const std::span<const Affine> in(mine);
    std::vector<std::vector<Affine>> before(kAtOnce + 1, std::vector<Affine>(n, kUntouched)), upto = before;
    std::vector<run::Request> requests;
    for (std::size_t k = 0; k < kAtOnce; ++k) {
      requests.push_back(comm.iexclusive_scan(in, std::span<Affine>(before[k]), Compose{}));
      requests.push_back(comm.iscan(in, std::span<Affine>(upto[k]), Compose{}));
    }
    comm.exclusive_scan(in, std::span<Affine>(before[kAtOnce]), Compose{});
    comm.scan(in, std::span<Affine>(upto[kAtOnce]), Compose{});
    for (std::size_t k = requests.size(); k-- > 0;) requests[k].wait();
    for (std::size_t i = 0; i < n; ++i) {
      const Affine lower = fold_before(me, i), upper = fold_before(me + 1, i);
      for (std::size_t k = 0; k <= kAtOnce; ++k) {
        if (before[k][i] != lower || upto[k][i] != upper)
          throw std::runtime_error(fmt::format("scan {} of {} elements: element {} is wrong", k, n, i));
      }
    }
  }
}

}  // namespace chasqui::engines
