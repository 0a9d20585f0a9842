// SPDX-License-Identifier: MIT
// What two contestants took, row by row: printed, and as CSV where a file was named.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

#include "rows.hpp"

namespace node_bench {

class Table {
 public:
  Table(const Settings& settings, const std::string& a, const std::string& b) {
    if (!settings.csv.empty()) raw_.open(settings.csv);
    raw_ << "collective,bytes,ranks";
    for (const std::string& column : {a, b, std::string("ratio")}) {
      raw_ << ',' << column << "_q1," << column << "_median," << column << "_q3";
    }
    raw_ << '\n';
    std::printf("%-10s %9s %12s %12s %6s %11s   [quartiles ns: %s | %s]\n", "collective", "bytes", (a + " ns").c_str(),
                (b + " ns").c_str(), "ratio", "quartiles", a.c_str(), b.c_str());
  }
  void add(const Row& row, int ranks, const Compared& found) {
    const auto& [a, b, ratio] = found;
    std::printf("%-10s %9zu %12.0f %12.0f %6.2f %5.2f %5.2f   [%.0f %.0f | %.0f %.0f]\n", row.name(), row.bytes,
                a.median, b.median, ratio.median, ratio.low, ratio.high, a.low, a.high, b.low, b.high);
    std::fflush(stdout);
    raw_ << row.name() << ',' << row.bytes << ',' << ranks;
    for (const Quartiles& q : {a, b, ratio}) raw_ << ',' << q.low << ',' << q.median << ',' << q.high;
    raw_ << '\n';
  }

 private:
  std::ofstream raw_;  ///< closed where no file was named: what is written to it then goes nowhere
};

}  // namespace node_bench
