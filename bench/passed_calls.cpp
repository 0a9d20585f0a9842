// SPDX-License-Identifier: MIT
// Instructions that the drop-in library and the component of Open MPI add to a call: one that is passed on because it is disabled, one
// that is passed on because the MPI library is faster, and one that is served. Starts itself on two ranks for each of them. Rank 0 runs
// under callgrind and is counted; it is so slow that the other one has always come before, so nothing is waited for. A count is the
// least of many calls: instructions of the library and of what it calls in the C and C++ libraries; the MPI library's own are left out.
// With words, as in `count_passed_calls_openmpi component slower 200`, one column, and status 1 where a count is larger.
//   cmake --preset release && ninja -C build/release count_passed_calls_openmpi && build/release/bin/count_passed_calls_openmpi
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/model/profile.hpp"

namespace {

using namespace chasqui;
namespace fs = std::filesystem;

#ifdef OPEN_MPI
constexpr std::string_view kLaunch = "mpirun --oversubscribe --allow-run-as-root -np 1", kFurther = ": -np 1";
#else
constexpr std::string_view kLaunch = "mpiexec.mpich -n 1", kFurther = ": -n 1";
#endif

constexpr int kWarm = 40, kCounted = 30;
std::vector<double> many_in(8192, 1.0), many_out(8192);  // 64 KiB

struct Case {
  const char* name;
  bool rounds;  ///< one that rounds is given to the faster side for good, so its way is known
  void (*call)(MPI_Request*);
};
constexpr Case kCases[] = {
    {"Allreduce 8 B", true,
     [](MPI_Request*) { MPI_Allreduce(many_in.data(), many_out.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }},
    {"Allreduce 64 KiB", true,
     [](MPI_Request*) { MPI_Allreduce(many_in.data(), many_out.data(), 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }},
    {"Reduce 8 B", true,
     [](MPI_Request*) { MPI_Reduce(many_in.data(), many_out.data(), 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }},
    {"Bcast 8 B", false, [](MPI_Request*) { MPI_Bcast(many_in.data(), 8, MPI_BYTE, 0, MPI_COMM_WORLD); }},
    {"Barrier", false, [](MPI_Request*) { MPI_Barrier(MPI_COMM_WORLD); }},
    {"Ibcast 8 B", false, [](MPI_Request* r) { MPI_Ibcast(many_in.data(), 8, MPI_BYTE, 0, MPI_COMM_WORLD, r); }},
};

/// A name in callgrind's file: "(3) name" the first time, "(3)" afterwards.
class Names {
 public:
  const std::string& full(const std::string& text) {
    const auto end = text.find(')');
    std::string& name = names_[text.substr(0, end)];
    if (end + 2 < text.size()) name = text.substr(end + 2);
    return name;
  }

 private:
  std::map<std::string, std::string> names_;
};

bool any_of(std::string_view path, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return path.find(part) != path.npos; });
}
bool ours(std::string_view path) { return any_of(path, {"mca_coll_chasqui", "libchasqui-mpi-"}); }
bool helps(std::string_view path) {
  return any_of(path, {"/ld-linux", "/libc.so", "/libstdc++", "/libgcc", "/libm.so", "/libfmt", "vdso", "vgpreload"});
}

/// Of a dump: what our libraries execute, and what they call in the system's.
std::int64_t added(const std::string& file) {
  Names names;
  std::ifstream dump(file);
  if (!dump) throw Error("{}: callgrind has not written it", file);
  std::string object, called;
  std::int64_t sum = 0;
  const auto cost = [](const std::string& line) { return std::stoll(line.substr(line.find(' '))); };
  for (std::string line; std::getline(dump, line);) {
    if (line.starts_with("ob=")) {
      called = object = names.full(line.substr(3));
    } else if (line.starts_with("cob=")) {
      called = names.full(line.substr(4));
    } else if (line.starts_with("calls=")) {
      std::getline(dump, line);
      if (ours(object) && helps(called)) sum += cost(line);
      called = object;
    } else if (!line.empty() &&
               (line[0] == '+' || line[0] == '-' || line[0] == '*' || (line[0] >= '0' && line[0] <= '9'))) {
      if (ours(object)) sum += cost(line);
    }
  }
  return sum;
}

/// On both ranks; rank 0 writes its counts, one line for each case; 0: not counted.
void count(const std::string& dumps, const std::string& results) {
  const bool only_those_that_round = std::getenv("CHASQUI_PROFILE") != nullptr;
  MPI_Init(nullptr, nullptr);
  int dump = 0;
  std::ofstream file(RUNNING_ON_VALGRIND ? results : "/dev/null");
  for (const Case& each : kCases) {
    if (only_those_that_round && !each.rounds) {
      file << "0\n";
      continue;
    }
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < kWarm + kCounted; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      CALLGRIND_ZERO_STATS;
      CALLGRIND_TOGGLE_COLLECT;
      each.call(&request);
      CALLGRIND_TOGGLE_COLLECT;
      if (i >= kWarm && RUNNING_ON_VALGRIND) {
        CALLGRIND_DUMP_STATS;
        least = std::min(least, added(fmt::format("{}.{}", dumps, ++dump)));
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    file << least << '\n';
  }
  MPI_Finalize();
}

struct Face {
  std::string name, words;  ///< of the launcher
};
struct Way {
  std::string name, variables;
};

/// The counts of all cases.
std::vector<std::int64_t> counted(const std::string& program, const fs::path& folder, const Face& face,
                                  const Way& way) {
  const std::string dumps = folder / "counts", results = folder / "results", log = folder / "log";
  const std::string own = fmt::format("'{}' '{}' '{}'", program, dumps, results);
  const int status = std::system(
      fmt::format(
          "env {} {} {} valgrind --tool=callgrind --quiet --collect-atstart=no --callgrind-out-file='{}' {} {} {} "
          "{} > '{}' 2>&1",
          way.variables, kLaunch, face.words, dumps, own, kFurther, face.words, own, log)
          .c_str());
  if (status != 0) {
    std::ifstream said(log);
    throw Error("{} of the {} could not be counted (apt install valgrind):\n{}", way.name, face.name,
                std::string(std::istreambuf_iterator<char>(said), {}));
  }
  std::ifstream file(results);
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 0; file >> count;) counts.push_back(count);
  return counts;
}

std::vector<Face> faces_of(const std::string& program) {
  const fs::path libraries = fs::canonical(program).parent_path().parent_path() / "lib";
#ifdef OPEN_MPI
  return {{"component",
           fmt::format("--mca mca_base_component_path SYSTEM_DEFAULT:{}", (libraries / "chasqui/openmpi").string())},
          {"drop-in", fmt::format("-x LD_PRELOAD={}", (libraries / "libchasqui-mpi-openmpi.so").string())}};
#else
  return {{"drop-in", fmt::format("-env LD_PRELOAD {}", (libraries / "libchasqui-mpi-mpich.so").string())}};
#endif
}

/// With a profile in `folder` by which the MPI library is always faster.
std::vector<Way> make_ways(const fs::path& folder) {
  Profile profile = default_profile();
  std::erase_if(profile.levels, [](const Level& level) { return level.name != "node"; });
  profile.levels.at(0).ranks = 2;
  for (const char* kind : {"allreduce", "reduce"}) {
    profile.native[kind] = {{0, 1.0}, {1 << 20, 1.0}};
    profile.measured[kind] = {{0, 1e6}, {1 << 20, 1e6}};
  }
  const std::string file = folder / "profile.json";
  write_profile(file, profile);
  return {{"disabled", "CHASQUI_DISABLE=all"},
          {"slower", fmt::format("CHASQUI_REHEARSE=0 CHASQUI_AFTER=0 CHASQUI_PROFILE='{}'", file)},
          {"served", "CHASQUI_REHEARSE=0 CHASQUI_AFTER=0 CHASQUI_TRIALS=0"}};
}

void table(const std::string& program, const fs::path& folder) {
  const std::vector<Way> ways = make_ways(folder);
  for (const Face& face : faces_of(program)) {
    std::printf("%-17s", face.name.c_str());
    for (const Way& way : ways) std::printf("%10s", way.name.c_str());
    std::printf("   instructions a call\n");
    std::vector<std::vector<std::int64_t>> columns;
    for (const Way& way : ways) columns.push_back(counted(program, folder, face, way));
    for (std::size_t i = 0; i < std::size(kCases); ++i) {
      std::printf("%-17s", kCases[i].name);
      for (const auto& column : columns)
        std::printf("%10s", column.at(i) > 0 ? std::to_string(column.at(i)).c_str() : "-");
      std::printf("\n");
    }
    std::fflush(stdout);
  }
}

/// One way of one face: is there a call that takes more than `most`?
bool too_many(const std::string& program, const fs::path& folder, const std::string& face, const std::string& way,
              std::int64_t most) {
  const std::vector<Face> faces = faces_of(program);
  const std::vector<Way> ways = make_ways(folder);
  const auto named = [](const auto& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
    if (found == list.end()) throw Error("nothing here is called {}", name);
    return *found;
  };
  const std::vector<std::int64_t> counts = counted(program, folder, named(faces, face), named(ways, way));
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    if (counts.at(i) > 0)
      std::printf("%-17s%10s of at most %s instructions\n", kCases[i].name, std::to_string(counts[i]).c_str(),
                  std::to_string(most).c_str());
  }
  return std::any_of(counts.begin(), counts.end(), [&](auto count) { return count > most; });
}

}  // namespace

int main(int words, char** word) try {
  if (words == 3) {
    count(word[1], word[2]);
    return 0;
  }
  const auto folder = fs::temp_directory_path() / fmt::format("chasqui-passed-{}", ::getpid());
  fs::create_directory(folder);
  bool failed = false;
  try {
    if (words == 4) failed = too_many(word[0], folder, word[1], word[2], std::stoll(word[3]));
    else table(word[0], folder);
  } catch (...) {
    fs::remove_all(folder);
    throw;
  }
  fs::remove_all(folder);
  return failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "count_passed_calls: %s\n", error.what());
  return 1;
}
