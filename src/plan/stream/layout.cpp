// SPDX-License-Identifier: MIT
#include "plan/stream/layout.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "plan/stream/juggling.hpp"

namespace chasqui::plan::stream_detail {
namespace {

std::vector<std::int32_t> word_of(const BlockType& type, std::int64_t L) {
  const auto head = static_cast<std::int32_t>(L - 1 + type.potential);
  std::vector<std::int32_t> values = {head};
  for (const auto& [y, count] : type.letters) {
    values.insert(values.end(), static_cast<std::size_t>(count), static_cast<std::int32_t>(L - 1 - y));
  }
  std::vector<std::int32_t> word = juggling_order(values);
  std::rotate(word.begin(), std::find(word.begin(), word.end(), head), word.end());
  return word;
}

}  // namespace

Layout lay_out(const Recipe& recipe) {
  Layout layout;
  layout.L = recipe.L;
  layout.t = recipe.t;
  if (recipe.receive_only) layout.receive_only = static_cast<std::int32_t>(recipe.L - 1 - *recipe.receive_only);
  for (const auto& [type, count] : recipe.blocks) {
    CHASQUI_CHECK(count > 0, "lay_out: an empty run of potential {}", type.potential);
    const Head head{0, recipe.t - recipe.L + 1 - type.potential, type.children()};
    layout.runs.push_back({{head}, word_of(type, recipe.L), count});
  }
  const auto key = [](const Run& run) { return std::pair(run.heads[0].label, -run.heads[0].children); };
  std::stable_sort(layout.runs.begin(), layout.runs.end(), [&](const Run& a, const Run& b) { return key(a) < key(b); });
  return layout;
}

Layout single_block(std::int64_t L, std::int64_t n) {
  Layout layout;
  layout.L = L;
  layout.t = n == 1 ? 0 : L + n - 2;
  if (n == 1) {
    layout.receive_only = 0;
    return layout;
  }
  // Leaves complete 0 .. q-1 steps later. Position j takes j for q odd (landing on 2j); for q even the upper half takes
  // j+1 (landing on 2j+1), so 0 comes twice and q/2 is left over. Adding a constant keeps a juggling sequence, and puts
  // the root, which is L-1 modulo q, on one of the two; what is left over goes to the receive-only rank.
  const std::int64_t q = n - 1;
  const std::int64_t shift = (L - 1) % q;
  Run run;
  run.heads = {{0, 0, q}};
  for (std::int64_t j = 0; j < q; ++j) {
    const std::int64_t letter = q % 2 == 0 && j >= q / 2 ? j + 1 : j;
    run.word.push_back(static_cast<std::int32_t>((letter + shift) % q));
  }
  run.word[0] = static_cast<std::int32_t>(layout.t);
  layout.receive_only = static_cast<std::int32_t>((shift + (q % 2 == 0 ? q / 2 : 0)) % q);
  layout.runs.push_back(std::move(run));
  return layout;
}

}  // namespace chasqui::plan::stream_detail
