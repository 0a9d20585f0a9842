// SPDX-License-Identifier: MIT
#include "plan/kernel/table.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "plan/kernel/codec.hpp"

namespace chasqui::plan::kernel {

/// Generated at build time from data/kernels.txt.
extern const char* const kShippedKernels[];
extern const unsigned kShippedKernelChunks;

namespace {

int number(std::string_view& line, std::string_view place, std::size_t row) {
  int value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ' || value < 1) {
    throw Error("{}:{}: expected 'P L kernel'; delete the line or rebuild the table", place, row);
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

bool before(const TableLine& a, const TableLine& b) { return std::tie(a.L, a.P) < std::tie(b.L, b.P); }

}  // namespace

std::vector<TableLine> parse_table(std::string_view text, std::string_view place) {
  std::vector<TableLine> lines;
  for (std::size_t row = 1; !text.empty(); ++row) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.front() == '#') continue;
    TableLine entry;
    entry.P = number(line, place, row);
    entry.L = number(line, place, row);
    entry.text = line;
    lines.push_back(entry);
  }
  return lines;
}

const std::vector<TableLine>& shipped_table() {
  static const std::vector<TableLine> table = [] {
    std::vector<TableLine> all;
    for (unsigned i = 0; i < kShippedKernelChunks; ++i) {
      const std::vector<TableLine> lines = parse_table(kShippedKernels[i], "shipped kernels");
      all.insert(all.end(), lines.begin(), lines.end());
    }
    std::sort(all.begin(), all.end(), before);
    return all;
  }();
  return table;
}

std::optional<Kernel> from_table(std::int64_t M, std::int64_t L) {
  if (M < 1 || M > 1'000'000 || L < 1 || L > 1'000'000) return std::nullopt;
  const TableLine wanted{static_cast<int>(M) + 1, static_cast<int>(L), {}};
  const std::vector<TableLine>& table = shipped_table();
  const auto found = std::lower_bound(table.begin(), table.end(), wanted, before);
  if (found == table.end() || found->P != wanted.P || found->L != wanted.L) return std::nullopt;
  return decode(found->text, static_cast<int>(M), wanted.L, "shipped kernels");
}

}  // namespace chasqui::plan::kernel
