// SPDX-License-Identifier: MIT
#include "plan/kernel/table.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "plan/kernel/codec.hpp"

namespace chasqui::plan {
namespace kernel {

/// Generated at build time from data/kernels.txt.
extern const char* const kShippedKernels[];
extern const unsigned kShippedKernelChunks;

namespace {

constexpr int kMost = 1'000'000;  ///< of P and of L

int number(std::string_view& line, int least, std::string_view place, std::size_t row) {
  int value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ' || value < least || value > kMost) {
    throw Error("{}:{}: expected 'P L kernel'; delete the line or rebuild the table", place, row);
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

bool before(const TableLine& a, const TableLine& b) { return std::tie(a.L, a.P) < std::tie(b.L, b.P); }

/// The line for M receivers in a sorted table, or nullptr.
const TableLine* find_line(const std::vector<TableLine>& table, std::int64_t M, std::int64_t L) {
  if (M < 1 || M >= kMost || L < 1 || L > kMost) return nullptr;
  const TableLine wanted{static_cast<int>(M) + 1, static_cast<int>(L), {}};
  const auto found = std::lower_bound(table.begin(), table.end(), wanted, before);
  return found == table.end() || found->P != wanted.P || found->L != wanted.L ? nullptr : &*found;
}

}  // namespace

std::vector<TableLine> parse_table(std::string_view text, std::string_view place) {
  std::vector<TableLine> lines;
  for (std::size_t row = 1; !text.empty(); ++row) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    TableLine entry;
    entry.P = number(line, 2, place, row);
    entry.L = number(line, 1, place, row);
    entry.text = line;
    lines.push_back(entry);
  }
  return lines;
}

std::vector<TableLine> parse_chunks(const char* const* chunks, unsigned count, std::string_view place) {
  std::vector<TableLine> all;
  for (unsigned i = 0; i < count; ++i) {
    const std::vector<TableLine> lines = parse_table(chunks[i], place);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  std::sort(all.begin(), all.end(), before);
  return all;
}

const std::vector<TableLine>& shipped_table() {
  static const std::vector<TableLine> table = parse_chunks(kShippedKernels, kShippedKernelChunks, "shipped kernels");
  return table;
}

std::optional<Kernel> from_table(std::int64_t M, std::int64_t L) {
  const TableLine* line = find_line(shipped_table(), M, L);
  if (line == nullptr) return std::nullopt;
  return decode(line->text, static_cast<int>(M), line->L, "shipped kernels");
}

}  // namespace kernel

KernelTable::KernelTable(const std::string& path) : path_(path) {
  text_ = read_file(path, "make it with chasqui kernels build, or unset CHASQUI_KERNELS");
  lines_ = kernel::parse_table(text_, path);
  std::sort(lines_.begin(), lines_.end(), kernel::before);
  const auto twice = std::adjacent_find(lines_.begin(), lines_.end(),
                                        [](const auto& a, const auto& b) { return a.P == b.P && a.L == b.L; });
  if (twice != lines_.end())
    throw Error("{}: P={} L={} is there twice: delete one of the lines", path, twice->P, twice->L);
}

std::optional<kernel::Kernel> KernelTable::find(std::int64_t M, std::int64_t L) const {
  const kernel::TableLine* line = kernel::find_line(lines_, M, L);
  if (line == nullptr) return std::nullopt;
  kernel::Kernel kernel = kernel::decode(line->text, static_cast<int>(M), line->L, path_);
  std::string error = steady_error(kernel);
  if (error.empty()) error = endgame_error(kernel);
  if (!error.empty()) throw Error("{}: P={} L={}: {}; delete the line or rebuild the table", path_, M + 1, L, error);
  return kernel;
}

KernelTablePtr read_kernel_table(const std::string& path) { return std::make_shared<const KernelTable>(path); }

}  // namespace chasqui::plan
