// SPDX-License-Identifier: MIT
#include "verify/holdings.hpp"

#include <algorithm>
#include <tuple>

namespace chasqui::verifier {

Holdings::Holdings(const Case& c) {
  first_.reserve(c.ranks().count() + 1);
  first_.push_back(0);
  all_.reserve(c.schedule().sends.size());
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    for (const Event& event : c.receptions().of(id)) {
      all_.push_back({c.item(event.index), c.available(event.index), event.index});
    }
    std::sort(all_.begin() + static_cast<std::ptrdiff_t>(first_.back()), all_.end(),
              [](const Holding& a, const Holding& b) {
                return std::tie(a.item, a.available, a.message) < std::tie(b.item, b.available, b.message);
              });
    first_.push_back(all_.size());
  }
}

const Holding* Holdings::find(std::size_t id, std::int64_t item) const {
  const auto held = of(id);
  const auto place =
      std::lower_bound(held.begin(), held.end(), item, [](const Holding& h, std::int64_t x) { return h.item < x; });
  return place != held.end() && place->item == item ? &*place : nullptr;
}

}  // namespace chasqui::verifier
