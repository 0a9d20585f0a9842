// SPDX-License-Identifier: MIT
// The raw data of `chasqui bench --out`, read back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chasqui::cli {

/// One line: a contestant's times for one collective and size, in nanoseconds.
struct BenchTime {
  std::string collective;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;
  std::string who;       ///< "chasqui METHOD", "native", "binomial", …
  double predicted = 0;  ///< 0: nobody predicted it
  double low = 0;        ///< first quartile
  double median = 0;
  double high = 0;  ///< third quartile

  bool ours() const { return who.starts_with("chasqui"); }
};

/// One run of the benchmark.
struct BenchData {
  std::string name;  ///< "threads", "openmpi": for headings
  std::vector<BenchTime> times;
};

/// Throws Error naming the line and what is wrong with it.
BenchData bench_data_from_csv(std::string_view text, std::string_view place, std::string name);
/// The name is the file's, without folder and extension.
BenchData read_bench_data(const std::string& path);

}  // namespace chasqui::cli
