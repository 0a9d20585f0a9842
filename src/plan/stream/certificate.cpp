// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream_certificate.hpp"
#include "plan/stream/compose.hpp"
#include "plan/stream/even_exception.hpp"
#include "plan/stream/juggling.hpp"

namespace chasqui::plan {

using namespace stream_detail;

namespace {

bool fits(const BaseCase& base, const BaseName& name, std::int64_t L, std::int64_t n) {
  if (!is_sound(alone(base, L, name.t), n)) return false;
  if (!name.K) return true;
  return base.receive_only == name.K && base.root.missing == 0 && sum_of(base.root.letters) == *name.K * base.root.q;
}

}  // namespace

StreamCertificate certify_streams(std::int64_t L) {
  CHASQUI_CHECK(L >= 3 && L <= 200, "certify_streams: L={}", L);
  const BaseRange range = base_range(L);
  StreamCertificate certificate{L, 0, range.first, range.K, {}};
  Growth f(L, 1);
  f.extend_to(range.first + L + 1);
  for (const BaseName& name : base_names(L)) {
    const std::int64_t n = f(name.t - 1) + name.u;
    const auto base = direct(f, name.t, name.u, name.K);
    if (!base || !fits(*base, name, L, n)) {
      certificate.failure = fmt::format("n={} (t={} u={}{})", n, name.t, name.u, name.K ? ", strong" : "");
      return certificate;
    }
    ++certificate.cases;
  }
  if (L % 2 == 0) {
    const auto layout = even_exception(L);
    if (!layout || !is_juggling(layout->runs[0].word)) {
      certificate.failure = fmt::format("n={} (even L)", L + 3);
      return certificate;
    }
    ++certificate.cases;
  }
  return certificate;
}

}  // namespace chasqui::plan
