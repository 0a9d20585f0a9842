// SPDX-License-Identifier: MIT
// Every command that reads a file does so in time that grows with the file, not with its square: instructions are counted by
// callgrind at n, 2n and 4n. What is the same for all sizes drops out of the differences, and the second difference is twice the
// first where cost grows linearly, four times where it grows with the square. Run by ctest under
//   valgrind --tool=callgrind --callgrind-out-file=FOLDER/counts test_cli_growth FOLDER CHASQUI
// Files are made by the program CHASQUI, which nobody watches.
#include <fmt/core.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kernels.hpp"
#include "chasqui/solve/drat.hpp"
#include "chasqui/tune/tuner.hpp"
#include "cli/frame/command.hpp"
#include "cli/plans/report_page.hpp"

namespace {

using namespace chasqui;
namespace fs = std::filesystem;

fs::path folder;
std::string program;

std::string path(const std::string& name) { return (folder / name).string(); }

void command(const std::string& words) {
  std::istringstream stream(words);
  std::vector<std::string> arguments;
  for (std::string word; stream >> word;) arguments.push_back(word);
  cli::Output out = cli::Output::silent();
  if (const int status = cli::run_main(arguments, out); status != 0) {
    std::fprintf(stderr, "chasqui %s: status %d\n", words.c_str(), status);
    std::exit(1);
  }
}

/// A command that is not counted.
void aside(const std::string& words) {
  if (const int status = std::system(fmt::format("{} {} > /dev/null", program, words).c_str()); status != 0) {
    std::fprintf(stderr, "chasqui %s: status %d\n", words.c_str(), status);
    std::exit(1);
  }
}

/// Instructions of the dump with this number, which callgrind has just written.
std::int64_t instructions(int dump) {
  std::ifstream file(path(fmt::format("counts.{}", dump)));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("totals: ") || line.starts_with("summary: ")) return std::stoll(line.substr(line.find(' ')));
  }
  throw Error("counts.{}: no totals: run under valgrind --tool=callgrind", dump);
}

struct Case {
  std::string name;
  int n;                             ///< the smallest size
  std::function<void(int)> prepare;  ///< writes the file of this size, not counted
  std::function<void()> act;
  double most = 2.5;  ///< what the quotient of the differences may be
};

/// The quotient of the differences between n, 2n and 4n.
double growth(const Case& one, int& dump) {
  std::int64_t cost[3];
  one.prepare(one.n);
  one.act();  // what is made once for all calls
  for (int i = 0; i < 3; ++i) {
    one.prepare(one.n << i);
    CALLGRIND_ZERO_STATS;
    one.act();
    CALLGRIND_DUMP_STATS;
    cost[i] = instructions(++dump);
  }
  const double quotient = static_cast<double>(cost[2] - cost[1]) / static_cast<double>(cost[1] - cost[0]);
  std::printf("%-44s n = %5d: %10ld %10ld %10ld  %.2f\n", one.name.c_str(), one.n, static_cast<long>(cost[0]),
              static_cast<long>(cost[1]), static_cast<long>(cost[2]), quotient);
  std::fflush(stdout);
  return quotient;
}

void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }

/// Writes s.json. Several commands read the same plan: it is made once.
std::function<void(int)> planned(const std::string& collective, const std::string& size) {
  return [=](int n) {
    std::string name = fmt::format("{}-{}-{}.json", collective, size, n);
    std::replace(name.begin(), name.end(), ' ', '-');
    if (static std::set<std::string> made; made.insert(name).second)
      aside(fmt::format("plan {} {} {} -o 2 -g 4 -L 6 --out {}", collective, size, n, path(name)));
    fs::copy_file(path(name), path("s.json"), fs::copy_options::overwrite_existing);
  };
}

void ledger(int machines, int supersteps) {
  std::string text = R"({"chasqui_bsp":1,"processors":2,"seconds":1,"machines":[)";
  for (int m = 0; m < machines; ++m) {
    text += fmt::format(R"({}{{"id":"{:x}","parent":"{:x}","split":"0","size":2,"supersteps":[)", m == 0 ? "" : ",",
                        m + 1, m);
    for (int s = 0; s < supersteps; ++s) {
      text += fmt::format(R"({}{{"w_ns":1,"w":1,"h":1,"blocks":1,"bytes":8,"messages_total":2,"blocks_total":2,)"
                          R"("bytes_total":16,"span_ns":5}})",
                          s == 0 ? "" : ",");
    }
    text += "]}";
  }
  write("ledger.json", text + "]}");
}

std::vector<Case> cases() {
  const std::string s = path("s.json");
  const auto wide = planned("scatter", "-P");
  const auto gathered = planned("gather", "-P");
  const auto items = planned("broadcast -P 8", "--items");
  return {
      {"verify, many ranks", 500, wide, [=] { command("verify " + s); }},
      {"verify, many items", 60, items, [=] { command("verify " + s); }},
      {"draw, summary", 600, wide, [=] { command("draw " + s); }},
      {"draw, table as SVG", 30, items,
       [=] { command("draw --what table --format svg --out " + path("d") + " " + s); }},
      {"draw, chart", 60, items, [=] { command("draw --what chart --out " + path("d") + " " + s); }},
      {"draw, trace", 250, wide, [=] { command("draw --format trace --out " + path("d") + " " + s); }},
      {"simulate, many ranks", 500, wide, [=] { command("simulate " + s); }},
      {"simulate, all to one as events", 500, gathered, [=] { command("simulate --mode event " + s); }},
      {"simulate, many items", 60, items, [=] { command("simulate " + s); }},
      {"simulate --goal", 250, wide, [=] { command("simulate --goal " + path("d") + " " + s); }},
      {"simulate, additions", 100,
       [=](int n) { aside(fmt::format("plan sum -P {} --operands {} -L 6 -o 2 -g 4 --out {}", n, 60 * n, s)); },
       [=] { command("simulate " + s); }},
      {"simulate --latency links", 500,
       [=](int n) {
         planned("scatter", "-P")(20);
         std::string lines;
         for (int i = 0; i < n; ++i) lines += fmt::format("{} {} {}\n", i % 20, (i + 1) % 20, 1 + i % 6);
         write("links", lines);
       },
       [=] { command("simulate --latency links:" + path("links") + " " + s); }},
      {"simulate --latency histogram", 500,
       [=](int n) {
         planned("scatter", "-P")(20);
         std::string lines;
         for (int i = 0; i < n; ++i) lines += fmt::format("{} 1\n", 1 + i % 6);
         write("histogram", lines);
       },
       [=] { command("simulate --latency histogram:" + path("histogram") + " " + s); }},
      {"draw of a play", 150,
       [=](int n) {
         planned("scatter", "-P")(n);
         aside("simulate --out " + path("t.json") + " " + s);
       },
       [=] { command("draw --format trace --out " + path("d") + " " + path("t.json")); }},
      {"bsp cost, supersteps", 100, [](int n) { ledger(1, n); }, [] { command("bsp cost " + path("ledger.json")); }},
      {"bsp cost, machines inside each other", 100, [](int n) { ledger(n, 1); },
       [] { command("bsp cost " + path("ledger.json")); }},
      {"atlas --merge", 100,
       [](int n) {
         std::string lines;
         for (int g = 1; g <= n; ++g) lines += fmt::format("allgather 2 1 1 {} 1 3 3 argument 0001\n", g);
         write("atlas", lines);
         fs::remove(path("merged"));
       },
       [] { command("atlas " + path("merged") + " --merge " + path("atlas")); }},
      {"proofs (check-proof)", 500,
       [](int n) {
         std::string clauses = fmt::format("p cnf {} {}\n1 0\n-{} 0\n", n, n + 1, n);
         for (int i = 1; i < n; ++i) clauses += fmt::format("-{} {} 0\n", i, i + 1);
         write("formula", clauses);
       },
       [] {
         std::stringstream text;
         text << std::ifstream(path("formula")).rdbuf();
         CHASQUI_CHECK(solve::check_drat(text.str(), "0\n").accepted, "n={}", 0);
       },
       2.7},  // its tables double
      {"bench tables (report --add)", 100,
       [](int n) {
         std::string rows = "collective,bytes,ranks,who,predicted_ns,q1_ns,median_ns,q3_ns\n";
         for (int i = 0; i < n; ++i)
           rows += fmt::format("broadcast,{},4,chasqui tree,5,4,5,6\nbroadcast,{},4,native,,8,9,10\n", i, i);
         write("bench.csv", rows);
       },
       [] {
         const std::vector<cli::BenchData> benches{cli::read_bench_data(path("bench.csv"))};
         show::Page page("times", "of one file");
         cli::measured_part(page, benches, "broadcast");
         cli::speed_ups(benches);
       }},
      {"explain --machine", 500,
       [](int n) {
         std::ifstream file(CHASQUI_SOURCE_DIR "/data/example_cluster.json");
         std::string text{std::istreambuf_iterator<char>(file), {}}, points;
         for (int i = 0; i < n; ++i) points += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", i, 100 + i);
         text.insert(text.find('{') + 1, fmt::format("\"cross_memory\": {{\"broadcast\": [{}]}},", points));
         write("profile.json", text);
       },
       [] { command("explain broadcast --machine " + path("profile.json")); }},
      {"export --to goal", 300, wide, [=] { command("export " + s + " --to goal --out " + path("d")); }},
      {"export --to msccl", 150, planned("broadcast", "-P"),
       [=] { command("export " + s + " --to msccl --out " + path("d")); }},
      {"import of GOAL", 300,
       [=](int n) {
         wide(n);
         aside("export " + s + " --to goal --out " + path("p.goal"));
       },
       [] { command("import " + path("p.goal") + " --collective scatter -L 6 -o 2 -g 4"); }},
      {"import of MSCCL XML", 150,
       [=](int n) {
         planned("broadcast", "-P")(n);
         aside("export " + s + " --to msccl --out " + path("p.xml"));
       },
       [] { command("import " + path("p.xml") + " -L 6 -o 2 -g 4"); }},
      {"profile --add", 500,
       [](int n) {
         std::string lines = "# OSU MPI Broadcast Latency Test v7.1\n# Size       Avg Latency(us)\n";
         for (int i = 1; i <= n; ++i) lines += fmt::format("{} 3.5\n", 8 * i);
         write("osu", lines);
       },
       [] {
         command("profile " CHASQUI_SOURCE_DIR "/data/example_cluster.json --add " + path("osu") + " --out " +
                 path("d"));
       }},
      {"tune --resume", 150,
       [](int n) {
         std::string lines = "collective,bytes,number,inner,fan,segment,name,time_ns,predicted_ns,library,ranks\n";
         for (int i = 0; i < n; ++i) lines += fmt::format("bcast,{},6,0,0,0,binomial,5,5,openmpi,8\n", i);
         write("races", lines);
       },
       [] {
         std::stringstream text;
         text << std::ifstream(path("races")).rdbuf();
         tune::cells_from_csv(text.str(), "races", {.ranks = 8});
       }},
      {"kernels (CHASQUI_KERNELS)", 500,
       [](int n) {
         std::string lines;
         for (int P = 2; P < n + 2; ++P) lines += fmt::format("{} 3 100Y1fYDWK0MJ8\n", P + 1000);
         write("kernels", lines);
       },
       [] { plan::read_kernel_table(path("kernels")); }},
  };
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: test_cli_growth FOLDER CHASQUI\n");
    return 2;
  }
  folder = words[1];
  program = words[2];
  int dump = 0, slow = 0;
  for (const Case& one : cases()) {
    if (!(growth(one, dump) <= one.most)) ++slow;
  }
  if (slow > 0) std::printf("%d grow faster than n log n\n", slow);
  return slow > 0 ? 1 : 0;
}
