// SPDX-License-Identifier: MIT
// Plans stay as they are: finish, bound, construction and the parts of a few ranks, on a grid of collectives, machines,
// processors and items, against the file plans.reference. With CHASQUI_REWRITE=1 the file is written anew; look at its
// difference then. A cell is finish, "+gap" unless optimal, and after a dot a hash of construction and parts; "-" where
// there is no plan.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/segments.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/stream_certificate.hpp"
#include "chasqui/plan/sum.hpp"

namespace chasqui::plan {
namespace {

constexpr const char* kReference = CHASQUI_SOURCE_DIR "/tests/plan/plans.reference";
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;

const std::vector<std::int64_t>& processors() {
  static const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> P;
    for (std::int64_t p = 1; p <= 40; ++p) P.push_back(p);
    P.insert(P.end(), {63, 64, 65, 66, 100, 127, 128, 129, 130, 1000, kMillion, kBillion});
    return P;
  }();
  return all;
}

/// L, o, g.
const std::vector<LogP>& strict_machines() {
  static const std::vector<LogP> all = {{1, Time{4}, Time{1}, Time{1}},  {1, Time{6}, Time{2}, Time{4}},
                                        {1, Time{10}, Time{3}, Time{2}}, {1, Time{5}, Time{0}, Time{3}},
                                        {1, Time{8}, Time{2}, Time{1}},  {1, Time{3}, Time{1}, Time{5}},
                                        {1, Time{12}, Time{1}, Time{2}}, {1, Time{1}, Time{2}, Time{9}}};
  return all;
}

std::vector<LogP> machines() {
  std::vector<LogP> all;
  for (std::int64_t L = 1; L <= 8; ++L) all.push_back(LogP::postal(1, Time{L}));
  all.insert(all.end(), strict_machines().begin(), strict_machines().end());
  return all;
}

/// FNV-1a, folded to 16 bits.
class Hash {
 public:
  void add(std::int64_t value) {
    for (int i = 0; i < 8; ++i) byte(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
  }
  void add(const std::string& text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  void add(const Send& send) {
    for (const std::int64_t v :
         {send.begin.ticks, std::int64_t{send.from.index}, std::int64_t{send.to.index}, std::int64_t{send.part.lo},
          std::int64_t{send.part.len}, std::int64_t{send.second.lo}, std::int64_t{send.second.len}})
      add(v);
  }
  void add(const LocalForm& form) {
    for (const Send& send : form.sends) add(send);
    for (const Send& send : form.receives) add(send);
    for (const Add& a : form.adds) add(a.begin.ticks);
    add(form.operands);
  }
  std::string text() const {
    return fmt::format("{:04x}", (state_ ^ state_ >> 16 ^ state_ >> 32 ^ state_ >> 48) & 0xffff);
  }

 private:
  void byte(std::uint64_t b) { state_ = (state_ ^ b) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

std::string times(Time finish, Time bound) {
  return finish == bound ? fmt::format("{}", finish.ticks) : fmt::format("{}+{}", finish.ticks, (finish - bound).ticks);
}

/// `parts`: up to this many processors the parts of a few ranks are looked at.
std::string cell(const PlanPtr& plan, std::int64_t parts) {
  Hash hash;
  hash.add(plan->claim().construction);
  const std::int64_t P = plan->machine().P;
  if (P <= parts) {
    for (const std::int64_t r : std::set<std::int64_t>{0, 1 % P, P / 2, P - 1})
      hash.add(plan->local(Rank{static_cast<std::int32_t>(r)}));
  }
  return times(plan->claim().finish, plan->claim().bound) + "." + hash.text();
}

/// The lines of the file, in order.
class Lines {
 public:
  /// One line: a cell for each number of processors in [first, last].
  void line(const std::string& name, LogP machine, std::int64_t first, std::int64_t last,
            const std::function<std::string(const LogP&)>& cell) {
    std::string text = fmt::format("{} L={} o={} g={}:", name, machine.L.ticks, machine.o.ticks, machine.g.ticks);
    for (const std::int64_t P : processors()) {
      if (P < first || P > last) continue;
      machine.P = P;
      try {
        text += " " + cell(machine);
      } catch (const Error&) {
        text += " -";
      }
    }
    lines_.push_back(std::move(text));
  }

  void plans(const std::string& name, std::int64_t first, std::int64_t last, std::int64_t parts,
             const std::function<PlanPtr(const LogP&)>& make) {
    for (const LogP& machine : machines())
      line(name, machine, first, last, [&](const LogP& m) { return cell(make(m), parts); });
  }

  void add(std::string text) { lines_.push_back(std::move(text)); }
  const std::vector<std::string>& all() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

Rank last(const LogP& m) { return Rank{static_cast<std::int32_t>(m.P - 1)}; }

void trees(Lines& lines) {
  lines.plans("broadcast", 1, kBillion, kBillion, [](const LogP& m) { return broadcast(m, last(m)); });
  lines.plans("reduce", 1, kBillion, kBillion, [](const LogP& m) { return reduce(m); });
  lines.plans("reduce in order", 1, kBillion, kBillion, [](const LogP& m) { return reduce(m, last(m), false); });
  lines.plans("scatter", 1, kBillion, 1000, [](const LogP& m) { return scatter(m, last(m)); });
  lines.plans("gather", 1, kBillion, 1000, [](const LogP& m) { return gather(m); });
  for (const std::int64_t n : {1, 2, 17, 100, 12345}) {
    lines.plans(fmt::format("sum n={}", n), 1, kBillion, 1000, [n](const LogP& m) { return sum_operands(m, n); });
  }
  lines.plans("sum t=40", 1, kBillion, 1000, [](const LogP& m) { return sum(m, Time{40}, false); });
}

void exchanges(Lines& lines) {
  for (const bool kept : {true, false}) {
    lines.plans(kept ? "allreduce" : "allreduce in order", 1, kBillion, kBillion,
                [kept](const LogP& m) { return allreduce(m, kept); });
    lines.plans(kept ? "scan" : "exclusive scan", 1, kBillion, kBillion,
                [kept](const LogP& m) { return scan(m, !kept); });
  }
  lines.plans("barrier", 1, kBillion, kBillion, [](const LogP& m) { return barrier(m); });
  for (const std::int64_t k : {1, 2, 5}) {
    lines.plans(fmt::format("allgather k={}", k), 1, kBillion, 130, [k](const LogP& m) { return allgather(m, k); });
  }
}

void items(Lines& lines) {
  for (const std::int64_t k : {1, 2, 3, 5, 8, 13, 40, 100, 1'000'000}) {
    const std::int64_t most = k < 40 ? 1000 : kBillion;
    const std::int64_t parts = k <= 100 ? 130 : 0;
    lines.plans(fmt::format("kitem k={}", k), 1, most, parts, [k](const LogP& m) { return kitem(m, k); });
    if (k > 100) continue;
    lines.plans(fmt::format("kitem reduce k={}", k), 1, 130, k % 2 == 0 ? 130 : 0,
                [k](const LogP& m) { return kitem_reduce(m, k, last(m)); });
    lines.plans(fmt::format("kitem reduce in order k={}", k), 1, 40, 40,
                [k](const LogP& m) { return kitem_reduce(m, k, Rank{0}, false); });
  }
  for (const std::int64_t bytes : {1, 1000, 1'000'000}) {
    for (const LogP& machine : strict_machines()) {
      lines.line(fmt::format("segments bytes={}", bytes), machine, 2, 40, [bytes](const LogP& m) {
        if (m.P % 5 != 0) return std::string(".");
        const Segmentation s = choose_segments({m, 1, 4}, bytes);
        return fmt::format("{}x{}:{}", s.best.segments, s.best.bytes, s.best.finish.ticks);
      });
    }
  }
}

std::string stream_cell(std::int64_t P, std::int64_t L) {
  const StreamPtr stream = make_stream(P, L);
  Hash hash;
  hash.add(stream->claim().construction);
  hash.add(stream->period());
  for (const std::int64_t r : std::set<std::int64_t>{0, 1 % P, P / 2, P - 1}) {
    for (std::int64_t t = 0; t < 40; t += 3) {
      for (const auto& message : {stream->pattern_sent(r, t), stream->pattern_received(r, t)}) {
        if (message) hash.add(message->item), hash.add(message->from), hash.add(message->to);
      }
    }
  }
  return times(stream->delay(), stream->bound()) + "." + hash.text();
}

void streams(Lines& lines) {
  for (std::int64_t L = 1; L <= 20; ++L) {
    lines.line("stream", LogP::postal(1, Time{L}), 2, L <= 8 ? kBillion : 130,
               [L](const LogP& m) { return stream_cell(m.P, L); });
  }
  for (const StreamAlgorithm& algorithm : stream_algorithms()) {
    for (std::int64_t L = 1; L <= 6; ++L) {
      const auto name = std::string(algorithm.name);
      lines.line(name + " k=7", LogP::postal(1, Time{L}), 1, 100,
                 [&](const LogP& m) { return cell(algorithm.items(m, 7, Rank{0}), 40); });
      if (algorithm.stream == nullptr) continue;
      lines.line(name + " stream", LogP::postal(1, Time{L}), 1, 100,
                 [&](const LogP& m) { return cell(algorithm.stream(m, Rank{0}), 0); });
    }
  }
  for (std::int64_t L = 3; L <= 16; ++L) {
    const StreamCertificate c = certify_streams(L);
    lines.add(fmt::format("certificate L={}: {} {} {} {}", L, c.cases, c.first, c.K, c.failure));
  }
}

void plain(Lines& lines) {
  constexpr Kind kinds[] = {Kind::broadcast, Kind::reduce,    Kind::allreduce, Kind::scan,
                            Kind::barrier,   Kind::allgather, Kind::gather,    Kind::scatter};
  for (const PlainTree tree : {PlainTree::binomial, PlainTree::chain, PlainTree::flat}) {
    for (const Kind kind : kinds) {
      for (const LogP& machine : strict_machines()) {
        lines.line(fmt::format("{} {}", to_string(tree), to_string(kind)), machine, 1, 40, [&](const LogP& m) {
          const PlainSchedule made = plain_schedule(tree, m, Problem{.kind = kind});
          if (!std::holds_alternative<Schedule>(made)) return std::string("-");
          Hash hash;
          for (const Send& send : std::get<Schedule>(made).sends) hash.add(send);
          return fmt::format("{}.{}", std::get<Schedule>(made).finish.ticks, hash.text());
        });
      }
    }
  }
}

void blocks(Lines& lines) {
  for (const std::int64_t k : {1, 3}) {
    lines.plans(fmt::format("alltoall k={}", k), 1, kBillion, 40, [k](const LogP& m) { return alltoall(m, k); });
  }
  for (const bool kept : {true, false}) {
    lines.plans(kept ? "reduce-scatter" : "reduce-scatter in order", 1, kBillion, 40,
                [kept](const LogP& m) { return reduce_scatter(m, 1, kept); });
  }
}

std::vector<std::string> computed() {
  Lines lines;
  trees(lines);
  exchanges(lines);
  items(lines);
  streams(lines);
  plain(lines);
  blocks(lines);
  return lines.all();
}

TEST(Plans, AreWhatTheyWere) {
  const std::vector<std::string> now = computed();
  if (std::getenv("CHASQUI_REWRITE") != nullptr) {
    std::ofstream out(kReference);
    for (const std::string& line : now) out << line << '\n';
    GTEST_SKIP() << kReference << " written";
  }
  std::ifstream in(kReference);
  ASSERT_TRUE(in) << kReference;
  int differences = 0;
  for (const std::string& line : now) {
    std::string before;
    std::getline(in, before);
    if (line == before) continue;
    std::istringstream old_cells(before);
    std::istringstream new_cells(line);
    std::string a;
    std::string b;
    for (int column = 0; new_cells >> b; ++column) {
      if (old_cells >> a && a != b && ++differences <= 20)
        ADD_FAILURE() << line.substr(0, line.find(':')) << ", word " << column << ": was " << a << ", is " << b;
    }
    EXPECT_FALSE(differences == 0) << "was " << before << "\nis  " << line;
  }
  EXPECT_EQ(differences, 0);
}

}  // namespace
}  // namespace chasqui::plan
