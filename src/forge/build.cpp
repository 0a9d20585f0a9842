// SPDX-License-Identifier: MIT
#include "chasqui/forge/build.hpp"

#include <atomic>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "forge/search.hpp"
#include "forge/special.hpp"
#include "plan/kernel/codec.hpp"
#include "plan/kernel/merge.hpp"
#include "plan/kernel/table.hpp"

namespace chasqui::forge {
namespace {

using Entries = std::map<std::pair<int, int>, std::string>;  // (L, P) -> kernel

constexpr const char* kHeading =
    "# Kernels for k-item broadcast: P L kernel. Made by `chasqui kernels build`; see docs/items.md.\n";

/// What an interrupted run left: a last line without its end is dropped.
Entries read_entries(const std::string& path) {
  Entries entries;
  std::ifstream in(path, std::ios::binary);
  if (!in) return entries;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  for (const TableLine& line : parse_table(text, path)) entries[{line.L, line.P}] = std::string(line.text);
  return entries;
}

void write_entries(const std::string& path, const Entries& entries) {
  std::string all = kHeading;
  for (const auto& [key, text] : entries) all += fmt::format("{} {} {}\n", key.second, key.first, text);
  replace_file(path, all);
}

}  // namespace

BuildResult build_table(const BuildOptions& options, const std::function<void(int, int, bool)>& progress) {
  if (options.max_P < 2 || options.max_L < 1 || options.threads < 1) {
    throw Error("kernels build: needs --max-P at least 2, --max-L and --threads at least 1");
  }
  const bool exists = std::ifstream(options.path).good();
  if (exists && !options.resume) throw Error("{}: exists; add --resume to continue it", options.path);
  Entries entries = read_entries(options.path);
  BuildResult result;
  result.present = static_cast<std::int64_t>(entries.size());
  write_entries(options.path, entries);

  std::vector<std::pair<int, int>> work;
  for (int L = options.bases ? 3 : 2; L <= options.max_L; ++L) {
    const auto [first, last] = options.bases ? base_processors(L, options.more_levels) : std::pair{3, options.max_P};
    for (int P = first; P <= last; ++P) {
      const bool wanted = !options.bases || may_be_special(count(P - 1, L));
      if (wanted && !entries.contains({L, P})) work.emplace_back(L, P);
    }
  }
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  std::ofstream append(options.path, std::ios::binary | std::ios::app);
  auto worker = [&] {
    for (std::size_t i = next++; i < work.size(); i = next++) {
      const auto [L, P] = work[i];
      const auto kernel = options.bases ? search_special(P - 1, L, options.attempts, options.seed)
                                        : search(P - 1, L, options.attempts, options.seed);
      std::string text;
      if (kernel) {
        const std::string error = steady_error(*kernel) + endgame_error(*kernel);
        CHASQUI_CHECK(error.empty(), "P={} L={}: {}", P, L, error);
        text = encode(*kernel);
      }
      const std::lock_guard lock(mutex);
      if (kernel) {
        append << P << ' ' << L << ' ' << text << '\n' << std::flush;
        entries[{L, P}] = std::move(text);
      }
      ++(kernel ? result.found : result.missing);
      if (progress) progress(P, L, kernel.has_value());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(worker);
  worker();
  for (std::thread& thread : threads) thread.join();
  append.close();
  write_entries(options.path, entries);
  return result;
}

}  // namespace chasqui::forge
