// SPDX-License-Identifier: MIT
// chasqui atlas: makes, merges and shows the table of exact optima.
#include "chasqui/solve/atlas.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/interrupt.hpp"
#include "cli/plans/exact.hpp"

namespace chasqui::cli {
namespace {

class AtlasCommand final : public Command {
 public:
  AtlasCommand() : Command("atlas", "the table of exact optima of small problems: extend, merge or show it") {
    describe(
        "Searches for the optimum of every instance of a family that FILE does not have yet, and writes FILE as it goes. "
        "It can be stopped at any time and goes on where it stopped. Several processes share the work with --shard, "
        "each with a FILE of its own; --merge joins the files.");
    positional("FILE", &file_, "the atlas; made if it is not there").required().file();
    option("--family", "NAME", &range_.family, "what to search for; default broadcast")
        .choices(solve::atlas_families());
    option("-P", "N", &range_.P, "up to so many processors; default 12");
    option("-N", "N", &range_.N, "clusters: up to so many nodes, of two ranks or more; default 5");
    option("-L", "TICKS", &range_.L, "up to this latency, clusters: up to this L + 2o; default 5");
    option("--least-latency", "TICKS", &least_latency_, "from this latency on; default 1");
    option("-k,--items", "K", &range_.k, "broadcast, single: up to so many items; default 8");
    option("-g", "TICKS", &range_.g, "allgather, alltoall: 0 < o <= g up to this; default 4");
    option("--time-limit", "SECONDS", &time_limit_, "for each instance; default 60");
    option("--shard", "I/N", &shard_, "only instances I, I+N, I+2N, …; default 0/1");
    flag("--retry", retry_, "search again where finish and bound still differ");
    flag("--cold", cold_, "do not start from the best plan known");
    flag("--quiet", quiet_, "show no progress");
    option("--merge", "FILE", &merge_, "join these files into FILE, search for nothing").file();
    flag("--table", table_,
         "print FILE, and what --merge names, as the tables of docs/atlas.md; search for nothing, write nothing");
    example("chasqui atlas data/atlas.txt --family allgather -P 6", "continue the all-gather part");
    example("chasqui atlas clusters.txt --family cluster-broadcast", "every tiny cluster of clusters.md");
    example("chasqui atlas my.txt --family cluster-allreduce -N 3 -P 6 --time-limit 20",
            "at most 6 ranks; where 20 s were not enough, what lies between bound and finish");
    example("chasqui atlas data/atlas.txt --merge data/clusters.txt --table > docs/atlas.md", "the tables for people");
  }

  int run(Output& out) override {
    solve::Atlas atlas = solve::Atlas::read(file_);
    for (const std::string& part : merge_) {
      const solve::Atlas other = solve::Atlas::read(part);
      for (const solve::AtlasEntry* entry : other.entries()) atlas.add(*entry);
    }
    if (table_) {
      out.write(solve::atlas_table(atlas));
      return 0;
    }
    if (!merge_.empty()) {
      replace_file(file_, atlas.text());
      out.print("{} entries in {}\n", atlas.entries().size(), file_);
      return 0;
    }
    return search(atlas, out);
  }

 private:
  void read_shard() {
    char slash = 0;
    long shard = 0, shards = 0;
    int used = 0;
    if (std::sscanf(shard_.c_str(), "%ld%c%ld%n", &shard, &slash, &shards, &used) != 3 || slash != '/' || shard < 0 ||
        shard >= shards || used != static_cast<int>(shard_.size())) {
      throw Error("--shard {}: not a shard: give I/N with 0 <= I < N, like 0/4", shard_);
    }
    range_.shard = shard;
    range_.shards = shards;
  }

  int search(solve::Atlas& atlas, Output& out) {
    read_shard();
    const Interrupt interrupt;
    solve::Options options;
    options.time_limit = time_limit_;
    options.warm_start = !cold_;
    Progress bar("searching", !quiet_ && isatty(STDERR_FILENO) != 0);
    std::int64_t met = 0, open = 0, done = 0;
    const std::vector<solve::Instance> instances = solve::atlas_instances(range_);
    for (const solve::Instance& instance : instances) {
      ++done;
      if (instance.nodes.empty() && instance.machine.L.ticks < least_latency_) continue;
      const solve::AtlasEntry* known = atlas.find(instance);
      if (known != nullptr && (known->optimal() || !retry_)) {
        ++(known->optimal() ? met : open);
        continue;
      }
      watch(options, bar, fmt::format("{} of {}, {} open: {}  ", done, instances.size(), open, to_string(instance)));
      const std::optional<solve::AtlasEntry> entry = solve::atlas_entry(instance, options);
      if (Interrupt::asked()) break;
      if (entry) {
        out.print("{}: {}{}\n", to_string(entry->instance), entry->finish.ticks,
                  entry->optimal() ? "" : fmt::format(", bound {}", entry->bound.ticks));
        atlas.add(*entry);
        write_now_and_then(atlas);
      } else {
        out.print("{}: no schedule found\n", to_string(instance));
      }
      ++(entry && entry->optimal() ? met : open);
      out.flush();
    }
    if (unwritten_) replace_file(file_, atlas.text());
    out.print("{} optimal, {} open{}\n", met, open, Interrupt::asked() ? ", interrupted" : "");
    return 0;
  }

  /// Once a second at most: where an instance takes milliseconds, writing thousands of lines after each would take longer than finding them.
  void write_now_and_then(const solve::Atlas& atlas) {
    const auto now = std::chrono::steady_clock::now();
    unwritten_ = now < next_write_;
    if (unwritten_) return;
    replace_file(file_, atlas.text());
    next_write_ = now + std::chrono::seconds(1);
  }

  std::string file_;
  solve::AtlasRange range_;
  std::int64_t least_latency_ = 1;
  double time_limit_ = 60;
  std::string shard_ = "0/1";
  bool retry_ = false;
  bool quiet_ = false;
  bool cold_ = false;
  bool table_ = false;
  std::vector<std::string> merge_;
  bool unwritten_ = false;  ///< FILE lacks something that was found
  std::chrono::steady_clock::time_point next_write_{};
};

}  // namespace

CommandPtr make_atlas_command() { return std::make_unique<AtlasCommand>(); }

}  // namespace chasqui::cli
