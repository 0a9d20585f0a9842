// SPDX-License-Identifier: MIT
// The table. Numbers and words are those that `ompi_info --param coll tuned --level 9` of Open MPI 4.1 and the control variables of
// MPICH 4.0 print; tests/tune compares.
#include "chasqui/tune/algorithms.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/cliffs.hpp"
#include "tune/patterns.hpp"

namespace chasqui::tune {
namespace {

enum Takes : unsigned { kNothing = 0, kFan = 1, kRadix = 2, kSegments = 4 };

struct Row {
  std::string_view collectives;  ///< words, with a blank on either side
  int number;
  std::string_view name;
  Pattern* pattern;
  unsigned takes = kNothing;
  bool (*where)(int P) = nullptr;  ///< nullptr: for every number of ranks
  int inner = 0;                   ///< MPICH: the non-blocking algorithm
  bool forced_in_place = true;
};

bool two(int P) { return P == 2; }
bool even(int P) { return P % 2 == 0; }
bool power_of_two(int P) { return std::has_single_bit(static_cast<unsigned>(P)); }
bool many(int P) { return P > 2; }

const Row kOpenMpi[] = {
    {" bcast ", 1, "basic_linear", along<down, flat>},
    {" bcast ", 2, "chain", along<down, chains>, kFan | kSegments, many},
    {" bcast ", 3, "pipeline", along<down, pipeline>, kSegments},
    {" bcast ", 4, "split_binary_tree", split_binary_broadcast, kSegments, many},
    {" bcast ", 5, "binary_tree", along<down, levels>, kSegments, many},
    {" bcast ", 6, "binomial", along<down, near_binomial>, kSegments},
    // Its radix is a variable (4) that no rules file can set.
    {" bcast ", 7, "knomial", along<down, knomial>, kSegments, many},
    {" bcast ", 8, "scatter_allgather", scatter_doubling, kNothing, power_of_two},
    {" bcast ", 9, "scatter_allgather_ring", scatter_ring},
    {" reduce ", 1, "linear", along<up, flat>},
    {" reduce ", 2, "chain", along<up, chains>, kFan | kSegments, many},
    {" reduce ", 3, "pipeline", along<up, pipeline>, kSegments},
    {" reduce ", 4, "binary", along<up, levels>, kSegments, many},
    {" reduce ", 5, "binomial", along<up, binomial>, kSegments},
    {" reduce ", 6, "in-order_binary", in_order_reduce, kSegments},
    {" reduce ", 7, "rabenseifner", reduce_scatter_gather},
    {" allreduce ", 1, "basic_linear", up_and_down<flat>},
    {" allreduce ", 2, "nonoverlapping", up_and_down<binomial>},
    {" allreduce ", 3, "recursive_doubling", exchange},
    {" allreduce ", 4, "ring", ring_allreduce},
    {" allreduce ", 5, "segmented_ring", ring_allreduce, kSegments},
    {" allreduce ", 6, "rabenseifner", rabenseifner},
    {" allgather ", 1, "linear", gather_then_broadcast},
    {" allgather ", 2, "bruck", bruck_allgather},
    {" allgather ", 3, "recursive_doubling", doubling_allgather, kNothing, power_of_two},
    {" allgather ", 4, "ring", ring_allgather},
    {" allgather ", 5, "neighbor", neighbour_allgather, kNothing, even},
    {" allgather ", 6, "two_proc", ring_allgather, kNothing, two},
    {" allgatherv ", 1, "default", gather_then_broadcast},
    {" allgatherv ", 2, "bruck", bruck_allgather},
    {" allgatherv ", 3, "ring", ring_allgather},
    {" allgatherv ", 4, "neighbor", neighbour_allgather, kNothing, even},
    {" allgatherv ", 5, "two_proc", ring_allgather, kNothing, two},
    {" alltoall ", 1, "linear", linear_alltoall},
    {" alltoall ", 2, "pairwise", pairwise_alltoall},
    {" alltoall ", 3, "modified_bruck", bruck_alltoall},
    {" alltoall ", 4, "linear_sync", linear_alltoall},  // without a limit on requests, which rules of 4.1 cannot set
    {" alltoall ", 5, "two_proc", pairwise_alltoall, kNothing, two},
    {" alltoallv ", 1, "basic_linear", linear_alltoall},
    {" alltoallv ", 2, "pairwise", pairwise_alltoall},
    {" barrier ", 1, "linear", up_and_down<flat>},
    {" barrier ", 2, "double_ring", double_ring_barrier},
    {" barrier ", 3, "recursive_doubling", exchange},
    {" barrier ", 4, "bruck", dissemination_barrier},
    {" barrier ", 5, "two_proc", dissemination_barrier, kNothing, two},
    {" barrier ", 6, "tree", up_and_down<binomial>},
    {" gather ", 1, "basic_linear", along<collect, flat>},
    {" gather ", 2, "binomial", along<collect, binomial>},
    {" gather ", 3, "linear_sync", asked_gather},
    {" scatter ", 1, "basic_linear", along<deal, flat>},
    {" scatter ", 2, "binomial", along<deal, binomial>},
    {" scatter ", 3, "linear_nb", along<deal, flat>},
    {" reduce_scatter ", 1, "non-overlapping", reduce_then_scatter},
    {" reduce_scatter ", 2, "recursive_halving", halving_reduce_scatter},
    {" reduce_scatter ", 3, "ring", ring_reduce_scatter},
    {" reduce_scatter ", 4, "butterfly", halving_reduce_scatter},
    {" reduce_scatter_block ", 1, "basic_linear", reduce_then_scatter},
    {" reduce_scatter_block ", 2, "recursive_doubling", doubling_reduce_scatter},
    {" reduce_scatter_block ", 3, "recursive_halving", halving_reduce_scatter},
    {" reduce_scatter_block ", 4, "butterfly", halving_reduce_scatter},
    {" scan exscan ", 1, "linear", chain_scan},
    {" scan exscan ", 2, "recursive_doubling", doubling_scan},
};

const Row kMpich[] = {
    {" bcast ", 1, "binomial", along<down, binomial>},
    {" bcast ", 2, "tsp_tree", along<down, heap>, kFan | kSegments, nullptr, 6},
    {" bcast ", 2, "tsp_ring", along<down, pipeline>, kSegments, nullptr, 8, false},
    {" bcast ", 4, "scatter_recursive_doubling_allgather", scatter_doubling, kNothing, power_of_two},
    {" bcast ", 5, "scatter_ring_allgather", scatter_ring},
    {" reduce ", 1, "binomial", along<up, binomial>},
    {" reduce ", 2, "tsp_tree", along<up, heap>, kFan, nullptr, 5},
    {" reduce ", 4, "reduce_scatter_gather", reduce_scatter_gather},
    {" allreduce ", 3, "recursive_doubling", exchange},
    {" allreduce ", 4, "reduce_scatter_allgather", rabenseifner},
    {" allreduce ", 1, "tsp_recexch_multiple_buffer", exchange_by_radix, kRadix, nullptr, 7},
    {" allreduce ", 1, "tsp_tree", up_and_down<heap>, kFan, nullptr, 8},
    {" allreduce ", 1, "tsp_ring", ring_allreduce, kNothing, nullptr, 9},
    {" allgather allgatherv ", 1, "brucks", bruck_allgather},
    {" allgather allgatherv ", 3, "recursive_doubling", doubling_allgather, kNothing, power_of_two},
    {" allgather allgatherv ", 4, "ring", ring_allgather},
    {" alltoall ", 1, "brucks", bruck_alltoall},
    {" alltoall ", 3, "pairwise", pairwise_alltoall},
    {" alltoall ", 5, "scattered", linear_alltoall},
    {" alltoallv ", 3, "scattered", linear_alltoall},
    {" barrier ", 3, "dissemination", dissemination_barrier},
    // Its radix is a variable (2) that no file can set; and 4.0 has no word to force it by.
    {" barrier ", 1, "tsp_recexch", exchange, kNothing, nullptr, 3, false},
    {" gather ", 1, "binomial", along<collect, binomial>},
    // Its fan-out is a variable (2) that no file can set.
    {" gather ", 2, "tsp_tree", along<collect, binary_heap>, kNothing, nullptr, 3},
    {" scatter ", 1, "binomial", along<deal, binomial>},
    // Its fan-out is a variable (2) that no file can set.
    {" scatter ", 2, "tsp_tree", along<deal, binary_heap>, kNothing, nullptr, 3},
    {" reduce_scatter ", 3, "pairwise", pairwise_reduce_scatter},
    {" reduce_scatter ", 4, "recursive_doubling", doubling_reduce_scatter},
    {" reduce_scatter ", 5, "recursive_halving", halving_reduce_scatter},
    {" reduce_scatter_block ", 2, "recursive_doubling", doubling_reduce_scatter},
    {" reduce_scatter_block ", 3, "pairwise", pairwise_reduce_scatter},
    {" reduce_scatter_block ", 4, "recursive_halving", halving_reduce_scatter},
    {" scan ", 3, "recursive_doubling", doubling_scan},
    {" exscan ", 2, "recursive_doubling", doubling_scan},
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
  if (algorithm.segment > 0) text += " by " + bytes_in_words(algorithm.segment);
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

Kind kind_of(std::string_view word) {
  for (const CollectiveName& name : collectives()) {
    if (name.word == word) return name.kind;
  }
  throw Error("\"{}\" is no collective that can be tuned", word);
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
    if (row.number != algorithm.number || row.inner != algorithm.inner || row.name != algorithm.name ||
        (row.where != nullptr && !row.where(ranks)))
      return;
    const Case its{ranks, bytes, algorithm.fan, algorithm.segment};
    Builder builder(kind_of(algorithm.collective), its);
    row.pattern(builder, its);
    rounds = builder.take();
  });
  return rounds;
}

}  // namespace chasqui::tune
