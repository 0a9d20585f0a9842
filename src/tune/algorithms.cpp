// SPDX-License-Identifier: MIT
// The table. Numbers and words are those that `ompi_info --param coll tuned --level 9` of Open MPI 4.1 and the control variables of
// MPICH 4.0 print; tests/tune compares.
#include "chasqui/tune/algorithms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tune/patterns.hpp"

namespace chasqui::tune {
namespace {

/// What a row's rounds depend on.
struct Case {
  int P = 2;
  std::int64_t bytes = 0;
  std::int64_t fan = 0;
  std::int64_t segment = 0;

  std::vector<double> cut() const { return tune::cut(bytes, segment); }
};

enum Takes : unsigned { kNothing = 0, kFan = 1, kRadix = 2, kSegments = 4 };

struct Row {
  std::string_view collectives;  ///< words, with a blank on either side
  int number;
  std::string_view name;
  Rounds (*rounds)(const Case&);
  unsigned takes = kNothing;
  bool (*where)(int P) = nullptr;  ///< nullptr: for every number of ranks
  int inner = 0;                   ///< MPICH: the non-blocking algorithm
  bool forced_in_place = true;
};

bool two(int P) { return P == 2; }
bool even(int P) { return P % 2 == 0; }
bool power_of_two(int P) { return std::has_single_bit(static_cast<unsigned>(P)); }
bool many(int P) { return P > 2; }

Tree flat(int P) { return heap_tree(P, std::max(1, P - 1)); }
Tree binomial(int P) { return knomial_tree(P, 2); }

Rounds linear_broadcast(const Case& c) { return tree_broadcast(flat(c.P), c.cut()); }
Rounds linear_reduce(const Case& c) { return tree_reduce(flat(c.P), c.cut()); }
Rounds linear_allreduce(const Case& c) { return reduce_then_broadcast(flat(c.P), c.bytes); }
Rounds binomial_allreduce(const Case& c) { return reduce_then_broadcast(binomial(c.P), c.bytes); }
Rounds doubling_allreduce(const Case& c) { return exchange_allreduce(c.P, c.bytes, 2); }
Rounds by_rabenseifner(const Case& c) { return rabenseifner(c.P, c.bytes); }
Rounds rabenseifner_reduce(const Case& c) { return reduce_scatter_gather(c.P, c.bytes); }
Rounds bruck(const Case& c) { return bruck_allgather(c.P, c.bytes, 2); }
Rounds ring(const Case& c) { return ring_allgather(c.P, c.bytes); }
Rounds neighbour(const Case& c) { return neighbour_allgather(c.P, c.bytes); }
Rounds doubling(const Case& c) { return doubling_allgather(c.P, c.bytes); }
Rounds collected(const Case& c) { return gather_then_broadcast(c.P, c.bytes); }
Rounds linear_exchange(const Case& c) { return linear_alltoall(c.P, c.bytes); }
Rounds pairwise(const Case& c) { return pairwise_alltoall(c.P, c.bytes); }
Rounds bruck_exchange(const Case& c) { return bruck_alltoall(c.P, c.bytes); }
Rounds dissemination(const Case& c) { return dissemination_barrier(c.P); }
Rounds linear_gather(const Case& c) { return tree_gather(flat(c.P), c.bytes); }
Rounds binomial_gather(const Case& c) { return tree_gather(binomial(c.P), c.bytes); }
Rounds linear_scatter(const Case& c) { return tree_scatter(flat(c.P), c.bytes); }
Rounds binomial_scatter(const Case& c) { return tree_scatter(binomial(c.P), c.bytes); }
Rounds halving(const Case& c) { return halving_reduce_scatter(c.P, c.bytes); }
Rounds folded_scatter(const Case& c) { return reduce_then_scatter(c.P, c.bytes); }
Rounds folded_doubling(const Case& c) { return doubling_reduce_scatter(c.P, c.bytes); }
Rounds folded_pairwise(const Case& c) { return pairwise_reduce_scatter(c.P, c.bytes); }
Rounds scan_doubling(const Case& c) { return doubling_scan(c.P, c.bytes); }
Rounds scatter_doubling(const Case& c) { return scatter_allgather(c.P, c.bytes, Spread::doubling); }
Rounds scatter_ring(const Case& c) { return scatter_allgather(c.P, c.bytes, Spread::ring); }

const Row kOpenMpi[] = {
    {" bcast ", 1, "basic_linear", linear_broadcast},
    {" bcast ", 2, "chain", [](const Case& c) { return tree_broadcast(chain_tree(c.P, c.fan), c.cut()); },
     kFan | kSegments, many},
    {" bcast ", 3, "pipeline", [](const Case& c) { return tree_broadcast(chain_tree(c.P, 1), c.cut()); }, kSegments},
    {" bcast ", 4, "split_binary_tree", [](const Case& c) { return split_binary_broadcast(c.P, c.bytes, c.segment); },
     kSegments, many},
    {" bcast ", 5, "binary_tree", [](const Case& c) { return tree_broadcast(level_tree(c.P, 2), c.cut()); }, kSegments,
     many},
    {" bcast ", 6, "binomial", [](const Case& c) { return tree_broadcast(near_binomial(c.P), c.cut()); }, kSegments},
    // Its radix is a variable (4) that no rules file can set.
    {" bcast ", 7, "knomial", [](const Case& c) { return tree_broadcast(knomial_tree(c.P, 4), c.cut()); }, kSegments,
     many},
    {" bcast ", 8, "scatter_allgather", scatter_doubling, kNothing, power_of_two},
    {" bcast ", 9, "scatter_allgather_ring", scatter_ring},
    {" reduce ", 1, "linear", linear_reduce},
    {" reduce ", 2, "chain", [](const Case& c) { return tree_reduce(chain_tree(c.P, c.fan), c.cut()); },
     kFan | kSegments, many},
    {" reduce ", 3, "pipeline", [](const Case& c) { return tree_reduce(chain_tree(c.P, 1), c.cut()); }, kSegments},
    {" reduce ", 4, "binary", [](const Case& c) { return tree_reduce(level_tree(c.P, 2), c.cut()); }, kSegments, many},
    {" reduce ", 5, "binomial", [](const Case& c) { return tree_reduce(binomial(c.P), c.cut()); }, kSegments},
    {" reduce ", 6, "in-order_binary", [](const Case& c) { return in_order_reduce(c.P, c.cut()); }, kSegments},
    {" reduce ", 7, "rabenseifner", rabenseifner_reduce},
    {" allreduce ", 1, "basic_linear", linear_allreduce},
    {" allreduce ", 2, "nonoverlapping", binomial_allreduce},
    {" allreduce ", 3, "recursive_doubling", doubling_allreduce},
    {" allreduce ", 4, "ring", [](const Case& c) { return ring_allreduce(c.P, c.bytes, 0); }},
    {" allreduce ", 5, "segmented_ring", [](const Case& c) { return ring_allreduce(c.P, c.bytes, c.segment); },
     kSegments},
    {" allreduce ", 6, "rabenseifner", by_rabenseifner},
    {" allgather ", 1, "linear", collected},
    {" allgather ", 2, "bruck", bruck},
    {" allgather ", 3, "recursive_doubling", doubling, kNothing, power_of_two},
    {" allgather ", 4, "ring", ring},
    {" allgather ", 5, "neighbor", neighbour, kNothing, even},
    {" allgather ", 6, "two_proc", ring, kNothing, two},
    {" allgatherv ", 1, "default", collected},
    {" allgatherv ", 2, "bruck", bruck},
    {" allgatherv ", 3, "ring", ring},
    {" allgatherv ", 4, "neighbor", neighbour, kNothing, even},
    {" allgatherv ", 5, "two_proc", ring, kNothing, two},
    {" alltoall ", 1, "linear", linear_exchange},
    {" alltoall ", 2, "pairwise", pairwise},
    {" alltoall ", 3, "modified_bruck", bruck_exchange},
    {" alltoall ", 4, "linear_sync", linear_exchange},  // without a limit on requests, which rules of 4.1 cannot set
    {" alltoall ", 5, "two_proc", pairwise, kNothing, two},
    {" alltoallv ", 1, "basic_linear", linear_exchange},
    {" alltoallv ", 2, "pairwise", pairwise},
    {" barrier ", 1, "linear", [](const Case& c) { return linear_barrier(c.P); }},
    {" barrier ", 2, "double_ring", [](const Case& c) { return double_ring_barrier(c.P); }},
    {" barrier ", 3, "recursive_doubling", [](const Case& c) { return exchange_barrier(c.P, 2); }},
    {" barrier ", 4, "bruck", dissemination},
    {" barrier ", 5, "two_proc", dissemination, kNothing, two},
    {" barrier ", 6, "tree", [](const Case& c) { return tree_barrier(c.P); }},
    {" gather ", 1, "basic_linear", linear_gather},
    {" gather ", 2, "binomial", binomial_gather},
    {" gather ", 3, "linear_sync", [](const Case& c) { return asked_gather(c.P, c.bytes); }},
    {" scatter ", 1, "basic_linear", linear_scatter},
    {" scatter ", 2, "binomial", binomial_scatter},
    {" scatter ", 3, "linear_nb", linear_scatter},
    {" reduce_scatter ", 1, "non-overlapping", folded_scatter},
    {" reduce_scatter ", 2, "recursive_halving", halving},
    {" reduce_scatter ", 3, "ring", [](const Case& c) { return ring_reduce_scatter(c.P, c.bytes); }},
    {" reduce_scatter ", 4, "butterfly", halving},
    {" reduce_scatter_block ", 1, "basic_linear", folded_scatter},
    {" reduce_scatter_block ", 2, "recursive_doubling", folded_doubling},
    {" reduce_scatter_block ", 3, "recursive_halving", halving},
    {" reduce_scatter_block ", 4, "butterfly", halving},
    {" scan exscan ", 1, "linear", [](const Case& c) { return chain_scan(c.P, c.bytes); }},
    {" scan exscan ", 2, "recursive_doubling", scan_doubling},
};

const Row kMpich[] = {
    {" bcast ", 1, "binomial", [](const Case& c) { return tree_broadcast(binomial(c.P), c.cut()); }},
    {" bcast ", 2, "tsp_tree", [](const Case& c) { return tree_broadcast(heap_tree(c.P, c.fan), c.cut()); },
     kFan | kSegments, nullptr, 6},
    {" bcast ", 2, "tsp_ring", [](const Case& c) { return tree_broadcast(chain_tree(c.P, 1), c.cut()); }, kSegments,
     nullptr, 8, false},
    {" bcast ", 4, "scatter_recursive_doubling_allgather", scatter_doubling, kNothing, power_of_two},
    {" bcast ", 5, "scatter_ring_allgather", scatter_ring},
    {" reduce ", 1, "binomial", [](const Case& c) { return tree_reduce(binomial(c.P), c.cut()); }},
    {" reduce ", 2, "tsp_tree", [](const Case& c) { return tree_reduce(heap_tree(c.P, c.fan), c.cut()); }, kFan,
     nullptr, 5},
    {" reduce ", 4, "reduce_scatter_gather", rabenseifner_reduce},
    {" allreduce ", 3, "recursive_doubling", doubling_allreduce},
    {" allreduce ", 4, "reduce_scatter_allgather", by_rabenseifner},
    {" allreduce ", 1, "tsp_recexch_multiple_buffer",
     [](const Case& c) { return exchange_allreduce(c.P, c.bytes, c.fan); }, kRadix, nullptr, 7},
    {" allreduce ", 1, "tsp_tree", [](const Case& c) { return reduce_then_broadcast(heap_tree(c.P, c.fan), c.bytes); },
     kFan, nullptr, 8},
    {" allreduce ", 1, "tsp_ring", [](const Case& c) { return ring_allreduce(c.P, c.bytes, 0); }, kNothing, nullptr, 9},
    {" allgather allgatherv ", 1, "brucks", bruck},
    {" allgather allgatherv ", 3, "recursive_doubling", doubling, kNothing, power_of_two},
    {" allgather allgatherv ", 4, "ring", ring},
    {" alltoall ", 1, "brucks", bruck_exchange},
    {" alltoall ", 3, "pairwise", pairwise},
    {" alltoall ", 5, "scattered", linear_exchange},
    {" alltoallv ", 3, "scattered", linear_exchange},
    {" barrier ", 3, "dissemination", dissemination},
    // Its radix is a variable (2) that no file can set; and 4.0 has no word to force it by.
    {" barrier ", 1, "tsp_recexch", [](const Case& c) { return exchange_barrier(c.P, 2); }, kNothing, nullptr, 3,
     false},
    {" gather ", 1, "binomial", binomial_gather},
    // Its fan-out is a variable (2) that no file can set.
    {" gather ", 2, "tsp_tree", [](const Case& c) { return tree_gather(heap_tree(c.P, 2), c.bytes); }, kNothing,
     nullptr, 3},
    {" scatter ", 1, "binomial", binomial_scatter},
    // Its fan-out is a variable (2) that no file can set.
    {" scatter ", 2, "tsp_tree", [](const Case& c) { return tree_scatter(heap_tree(c.P, 2), c.bytes); }, kNothing,
     nullptr, 3},
    {" reduce_scatter ", 3, "pairwise", folded_pairwise},
    {" reduce_scatter ", 4, "recursive_doubling", folded_doubling},
    {" reduce_scatter ", 5, "recursive_halving", halving},
    {" reduce_scatter_block ", 2, "recursive_doubling", folded_doubling},
    {" reduce_scatter_block ", 3, "pairwise", folded_pairwise},
    {" reduce_scatter_block ", 4, "recursive_halving", halving},
    {" scan ", 3, "recursive_doubling", scan_doubling},
    {" exscan ", 2, "recursive_doubling", scan_doubling},
};

template <typename Use>
void for_rows(Library library, std::string_view collective, const Use& use) {
  const std::string word = fmt::format(" {} ", collective);
  const auto visit = [&](const auto& rows) {
    for (const Row& row : rows) {
      if (row.collectives.find(word) != std::string_view::npos) use(row);
    }
  };
  library == Library::openmpi ? visit(kOpenMpi) : visit(kMpich);
}

constexpr std::int64_t kSegmentSizes[] = {1024, 8192, 32768, 131072};  ///< bytes; what fits a message at least twice
constexpr std::int64_t kMostSegments = 256;

}  // namespace

std::string_view to_string(Library library) { return library == Library::openmpi ? "openmpi" : "mpich"; }

bool keeps_order(const Algorithm& algorithm) {
  if (algorithm.library != Library::openmpi) return true;
  const int number = algorithm.number;
  if (algorithm.collective == "reduce") return number < 2 || number > 5;
  if (algorithm.collective == "allreduce") return number != 4 && number != 5;
  if (algorithm.collective == "reduce_scatter") return number != 2 && number != 3;
  if (algorithm.collective == "reduce_scatter_block") return number != 3;
  return true;
}

std::string to_string(const Algorithm& algorithm) {
  std::string text = algorithm.name;
  if (algorithm.fan > 0) text += fmt::format(" of {}", algorithm.fan);
  if (algorithm.segment >= 1024 && algorithm.segment % 1024 == 0)
    text += fmt::format(" by {} KiB", algorithm.segment / 1024);
  else if (algorithm.segment > 0) text += fmt::format(" by {} B", algorithm.segment);
  return text;
}

const std::vector<CollectiveName>& collectives() {
  static const std::vector<CollectiveName> list = {{"bcast", Kind::broadcast},
                                                   {"reduce", Kind::reduce},
                                                   {"allreduce", Kind::allreduce},
                                                   {"allgather", Kind::allgather},
                                                   {"allgatherv", Kind::allgather},
                                                   {"alltoall", Kind::alltoall},
                                                   {"alltoallv", Kind::alltoall},
                                                   {"barrier", Kind::barrier},
                                                   {"gather", Kind::gather},
                                                   {"scatter", Kind::scatter},
                                                   {"reduce_scatter", Kind::reduce_scatter},
                                                   {"reduce_scatter_block", Kind::reduce_scatter},
                                                   {"scan", Kind::scan},
                                                   {"exscan", Kind::scan}};
  return list;
}

std::string_view word_of(Kind kind) {
  if (kind == Kind::reduce_scatter) return "reduce_scatter_block";
  for (const CollectiveName& name : collectives()) {
    if (name.kind == kind) return name.word;
  }
  return "";
}

std::vector<Algorithm> algorithms(Library library, std::string_view collective, int ranks, std::int64_t bytes) {
  std::vector<Algorithm> list;
  for_rows(library, collective, [&](const Row& row) {
    if (row.where != nullptr && !row.where(ranks)) return;
    Algorithm algorithm{library, std::string(collective), row.number, std::string(row.name)};
    algorithm.inner = row.inner;
    algorithm.forced_in_place = row.forced_in_place;
    std::vector<std::int64_t> fans = {0}, segments = {0};
    if (row.takes & (kFan | kRadix)) {
      fans.clear();
      const std::int64_t most = row.takes & kRadix ? ranks : ranks - 1;
      for (const std::int64_t fan : {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, most}) {
        if (fan >= (row.takes & kRadix ? 3 : 2) && fan <= most &&
            std::find(fans.begin(), fans.end(), fan) == fans.end())
          fans.push_back(fan);
      }
    }
    if (row.takes & kSegments) {
      for (const std::int64_t size : kSegmentSizes) {
        if (bytes >= 2 * size && bytes / size <= kMostSegments) segments.push_back(size);
      }
    }
    for (const std::int64_t fan : fans) {
      for (const std::int64_t segment : segments) {
        algorithm.fan = fan;
        algorithm.segment = segment;
        list.push_back(algorithm);
      }
    }
  });
  return list;
}

std::optional<Rounds> rounds_of(const Algorithm& algorithm, int ranks, std::int64_t bytes) {
  std::optional<Rounds> rounds;
  for_rows(algorithm.library, algorithm.collective, [&](const Row& row) {
    if (row.number == algorithm.number && row.inner == algorithm.inner && row.name == algorithm.name &&
        (row.where == nullptr || row.where(ranks)))
      rounds = row.rounds({ranks, bytes, algorithm.fan, algorithm.segment});
  });
  return rounds;
}

}  // namespace chasqui::tune
