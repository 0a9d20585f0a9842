// SPDX-License-Identifier: MIT
// Multisearch: n queries find their segments among m ordered ones, in a d-ary search tree spread over the
// processors. All queries go down level by level. A small job (the queries at one node, at most r of them)
// travels to the node; a large job stays spread evenly over consecutive processors and gets the node's
// splitters broadcast to it. Source: docs/results.md, "Bulk-synchronous machines" (the plain BSP algorithm,
// and BSP* with the z-mapping).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chasqui/bsp/search_tree.hpp"
#include "chasqui/bsp/tree_scan.hpp"

namespace chasqui::bsp {
/// How searches are packed and spread.
struct MultisearchOptions {
  int d = 16;              ///< degree of the search tree; a 64th more where that saves a level
  int z = 0;               ///< 0: random mapping (plain BSP); else the z-mapping (BSP*), at most p
  std::int64_t small = 0;  ///< r: jobs up to this size are small; 0: (n/p)^(1/2)
  int k = 4;               ///< degree of the trees that scan and broadcast
  std::uint64_t seed = 1;
};

/// Counted on this processor.
struct MultisearchCounts {
  std::vector<std::uint64_t>
      rounds{};                  ///< the superstep each round of the last search began with, and the last one's end
  int levels = 0;                ///< depth of the tree: rounds of a search
  std::int64_t comparisons = 0;  ///< in binary searches
  std::int64_t most_small_blocks = 0;  ///< most processors it sent its small jobs to in one round
  std::int64_t most_large_blocks = 0;  ///< most processors it sent parts of large jobs to in one round
};

/// less(query, splitter): the query lies left of the splitter. The segment of a query is the number of
/// splitters it does not lie left of. Queries need no order among themselves.
template <Sendable Query, Sendable Splitter, typename Less = std::less<>>
class Multisearch {
 public:
  /// Builds the tree: `mine` is this processor's part of the sorted splitters, parts in rank order.
  /// BSP costs: one superstep with h = O(m/p) after two collectives.
  Multisearch(World& w, std::span<const Splitter> mine, const MultisearchOptions& options = {}, Less less = {})
      : options_(checked(w.size(), options)), less_(less), tree_(w, mine, options.d, options.z, options.seed),
        levels_(tree_.levels()), d_(tree_.degree()) {
    counts_.levels = levels_;
  }

  /// The segment of each query, in the order given. Collective.
  std::vector<std::int64_t> search(World& w, std::span<const Query> queries) {
    begin(w, queries);
    bool any_large = true;
    counts_.rounds.clear();
    for (int level = 0; level < levels_; ++level) {
      counts_.rounds.push_back(w.superstep());
      const bool last = level + 1 == levels_;
      if (any_large) fetch_splitters(w, level);
      descend_small(level);
      if (any_large) any_large = descend_large(w, last);
      if (!last) route(w, level + 1);
    }
    counts_.rounds.push_back(w.superstep());
    return bring_home(w, queries.size());
  }

  const MultisearchCounts& counts() const { return counts_; }  ///< what the searches cost so far

 private:
  struct Traveller {
    Query query;
    std::int32_t origin;
    std::int32_t slot;
    std::int64_t node;
  };
  struct Job {  ///< this processor's part of a large job
    std::int64_t node = 0, start = 0,
                 size = 0;            ///< it fills positions start .. start+size-1 of all processors
    std::int64_t at = 0;              ///< where this part begins
    std::size_t first = 0, last = 0;  ///< its travellers in large_
    std::vector<Splitter> splitters{};
    std::vector<std::int64_t> here{}, before{},
        totals{};  ///< of each child: on this processor; on earlier ones; in all
  };
  struct Child {  ///< this processor's part of a job of the next level whose parent is large
    std::int64_t node, start, size, at;
    std::size_t first, last;  ///< in order_
  };
  struct Parcel {  ///< goes ahead of a span of travellers of a large job
    std::int64_t node, start, size, at;
  };

  static const MultisearchOptions& checked(int p, const MultisearchOptions& options) {
    if (options.d < 2) throw Error("multisearch: d = {}: at least 2", options.d);
    if (options.z < 0 || options.z > p) throw Error("multisearch: z = {}: from 0 to p = {}", options.z, p);
    return options;
  }
  bool leaves_right(const World& w, const Job& job) const { return job.start + job.size > (w.rank() + 1) * part_; }
  bool comes_from_left(const World& w, const Job& job) const { return job.start < w.rank() * part_; }

  /// Halves the splitters without a branch that depends on them: which way a query goes cannot be foreseen.
  std::int64_t child_of(const Query& query, std::span<const Splitter> splitters) {
    work_ += static_cast<std::int64_t>(std::bit_width(splitters.size()));
    if (splitters.empty()) return 0;
    const Splitter* first = splitters.data();
    for (std::size_t left = splitters.size(); left > 1;) {
      const std::size_t half = left / 2;
      first += less_(query, first[half - 1]) ? 0 : half;
      left -= half;
    }
    return first - splitters.data() + (less_(query, *first) ? 0 : 1);
  }

  void charge(World& w) {
    w.charge(work_);
    counts_.comparisons += work_;
    work_ = 0;
  }

  /// All queries are at the root: one job, large or small. No superstep where it is large and spread evenly already.
  void begin(World& w, std::span<const Query> queries) {
    const auto count = static_cast<std::int64_t>(queries.size());
    const std::int64_t first = w.exclusive_scan(count, std::plus<>{}, std::int64_t{0});
    const std::int64_t n = w.allreduce(count, std::plus<>{});
    part_ = std::max<std::int64_t>(1, (n + w.size() - 1) / w.size());
    small_ = options_.small > 0 ? options_.small
                                : std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(part_))));
    jobs_.clear(), here_.clear(), large_.clear(), children_.clear(), order_.clear();
    large_.reserve(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i)
      large_.push_back({queries[i], w.rank(), static_cast<std::int32_t>(i), 0});
    if (levels_ == 0) return;  // they are where they end
    const std::int64_t begin = std::min(n, w.rank() * part_), end = std::min(n, begin + part_);
    const bool in_place = n > small_ && first == begin && first + count == end;
    if (w.allreduce(static_cast<int>(in_place), std::bit_and<>{}) != 0) {
      if (count > 0) jobs_.push_back({0, 0, n, first, 0, large_.size()});
      return;
    }
    order_.resize(large_.size());
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    if (n > 0) children_.push_back({0, 0, n, first, 0, order_.size()});
    route(w, 0);
  }

  /// Superstep 1: the first processor of each large job asks for the node. 2: the owner answers. Then the
  /// splitters go along the job's processors by a segmented copy.
  void fetch_splitters(World& w, int level) {
    Queue<std::int64_t> ask(w);
    Queue<Splitter> answer(w);
    for (const Job& job : jobs_) {
      if (!comes_from_left(w, job)) ask.send(static_cast<int>(tree_.mapping().owner(level, job.node)), job.node);
    }
    w.sync();
    std::vector<std::pair<int, std::int64_t>> asked;
    for (const auto& message : ask) asked.emplace_back(message.from, message.value());
    for (const auto& [from, node] : asked) answer.send(from, tree_.splitters(level, node));
    w.sync();
    // Answers come by owner; each owner answers in the order of the questions.
    std::unordered_map<int, std::vector<std::vector<Splitter>>> answers;
    for (const auto& message : answer) answers[message.from].emplace_back(message.values.begin(), message.values.end());
    std::unordered_map<int, std::size_t> used;
    for (Job& job : jobs_) {
      if (comes_from_left(w, job)) continue;
      const int owner = static_cast<int>(tree_.mapping().owner(level, job.node));
      job.splitters = std::move(answers[owner][used[owner]++]);
    }
    struct Copied {
      std::int32_t starts_here;
      std::int32_t pad;
      Splitter splitter;
    };
    // What leaves to the right: the splitters of a job that begins here and goes on, or a mark that none
    // does.
    std::vector<Copied> forward;
    const bool goes_on = !jobs_.empty() && leaves_right(w, jobs_.back());
    if (!goes_on) forward.push_back({1, 0, Splitter{}});
    else if (!comes_from_left(w, jobs_.back())) {
      forward.push_back({1, 0, Splitter{}});
      for (const Splitter& splitter : jobs_.back().splitters) forward.push_back({0, 0, splitter});
    }
    const auto copy = [](std::vector<Copied>& a, const std::vector<Copied>& b) {
      if (b[0].starts_here != 0) a = b;
    };
    const auto before = tree_scan(w, forward, std::vector<Copied>{}, copy, copy, options_.k).before;
    if (!jobs_.empty() && comes_from_left(w, jobs_.front())) {
      jobs_.front().splitters.clear();
      for (std::size_t i = 1; i < before.size(); ++i) jobs_.front().splitters.push_back(before[i].splitter);
    }
  }

  void descend_small(int level) {
    for (Traveller& one : here_) one.node = one.node * d_ + child_of(one.query, tree_.splitters(level, one.node));
  }

  /// Every traveller of a large job finds its child; a two-way segmented scan tells how many go where.
  /// Returns whether there is any large job on any processor.
  bool descend_large(World& w, bool last) {
    const auto d = static_cast<std::size_t>(d_);
    for (const Job& job : jobs_) {
      for (std::size_t i = job.first; i < job.last; ++i)
        large_[i].node = job.node * d_ + child_of(large_[i].query, job.splitters);
    }
    if (last) return true;
    for (Job& job : jobs_) {
      job.here.assign(d, 0);
      for (std::size_t i = job.first; i < job.last; ++i)
        ++job.here[static_cast<std::size_t>(large_[i].node - job.node * d_)];
      job.totals = job.here;
    }
    // [0]: the counts begin here, [1]: there are large jobs, [2 …]: counts of the job that crosses the
    // border.
    std::vector<std::int64_t> forward(2, 0), backward(2, 0);
    forward[1] = backward[1] = jobs_.empty() ? 0 : 1;
    const auto fill = [&](std::vector<std::int64_t>& value, bool crosses, const Job* job, bool begins) {
      value[0] = !crosses || begins ? 1 : 0;
      value.resize(2 + d, 0);
      if (crosses) std::copy(job->totals.begin(), job->totals.end(), value.begin() + 2);
    };
    const Job* const front = jobs_.empty() ? nullptr : &jobs_.front();
    const Job* const back = jobs_.empty() ? nullptr : &jobs_.back();
    fill(forward, back != nullptr && leaves_right(w, *back), back, back != nullptr && !comes_from_left(w, *back));
    fill(backward, front != nullptr && comes_from_left(w, *front), front, front != nullptr && !leaves_right(w, *front));
    const auto add = [](std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
      for (std::size_t i = 2; i < a.size(); ++i) a[i] = b[i] + (b[0] != 0 ? 0 : a[i]);
      a[0] |= b[0];
      a[1] |= b[1];
    };
    const auto both = tree_scan(w, forward, backward, add, add, options_.k);
    for (Job& job : jobs_) {
      job.before.assign(d, 0);
      if (comes_from_left(w, job)) std::copy(both.before.begin() + 2, both.before.end(), job.before.begin());
      for (std::size_t c = 0; c < d; ++c) {
        job.totals[c] += job.before[c];
        if (leaves_right(w, job)) job.totals[c] += both.after[2 + c];
      }
    }
    const bool any =
        forward[1] != 0 || (!both.before.empty() && both.before[1] != 0) || (!both.after.empty() && both.after[1] != 0);
    split_jobs();
    return any;
  }

  /// Large jobs fall into their children; a child keeps its place within the parent's positions.
  void split_jobs() {
    const auto d = static_cast<std::size_t>(d_);
    children_.clear();
    order_.resize(large_.size());
    std::vector<std::size_t> next(d);
    for (const Job& job : jobs_) {
      std::int64_t start = job.start;
      std::size_t first = job.first;
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t last = first + static_cast<std::size_t>(job.here[c]);
        if (first != last) {
          children_.push_back(
              {job.node * d_ + static_cast<std::int64_t>(c), start, job.totals[c], start + job.before[c], first, last});
        }
        start += job.totals[c];
        next[c] = std::exchange(first, last);
      }
      for (std::size_t i = job.first; i < job.last; ++i)
        order_[next[static_cast<std::size_t>(large_[i].node - job.node * d_)]++] = static_cast<std::uint32_t>(i);
    }
    jobs_.clear();
  }

  /// One superstep: everybody goes where the next level wants it.
  void route(World& w, int level) {
    charge(w);
    Queue<Traveller> small(w), large(w);
    Queue<Parcel> parcels(w);
    // Small jobs that were here, by destination: one message each.
    const std::int64_t small_blocks = send_grouped(w, small, here_.size(), [&](const auto& each) {
      for (const Traveller& one : here_) each(one, tree_.mapping().child_owner(level, one.node, w.rank()));
    });
    counts_.most_small_blocks = std::max(counts_.most_small_blocks, small_blocks);
    here_.clear();
    std::size_t fallen = 0;  // of jobs that were large and are small now
    std::int64_t large_blocks = 0;
    for (const Child& job : children_) {
      if (job.size <= small_) {
        fallen += job.last - job.first;
        continue;
      }
      for (std::size_t i = job.first; i < job.last;) {
        const std::int64_t at = job.at + static_cast<std::int64_t>(i - job.first), there = at / part_;
        const std::int64_t room = (there + 1) * part_ - at;
        const auto count = std::min<std::size_t>(static_cast<std::size_t>(room), job.last - i);
        parcels.send(static_cast<int>(there), Parcel{job.node, job.start, job.size, at});
        for (Traveller& one : large.room(static_cast<int>(there), count)) one = large_[order_[i++]];
        ++large_blocks;
      }
    }
    large_blocks += send_grouped(w, small, fallen, [&](const auto& each) {
      for (const Child& job : children_) {
        if (job.size > small_) continue;
        const std::int64_t owner = tree_.mapping().owner(level, job.node);
        for (std::size_t i = job.first; i < job.last; ++i) each(large_[order_[i]], owner);
      }
    });
    counts_.most_large_blocks = std::max(counts_.most_large_blocks, large_blocks);
    children_.clear(), large_.clear();
    w.sync();
    for (const auto& message : small) here_.insert(here_.end(), message.values.begin(), message.values.end());
    auto travellers = large.begin();
    std::vector<std::pair<Parcel, std::span<const Traveller>>> arrived;
    for (const auto& parcel : parcels) {
      arrived.emplace_back(parcel.value(), travellers->values);
      ++travellers;
    }
    std::sort(arrived.begin(), arrived.end(), [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
    for (const auto& [parcel, some] : arrived) {
      if (jobs_.empty() || jobs_.back().start != parcel.start) {
        jobs_.push_back({parcel.node, parcel.start, parcel.size, parcel.at, large_.size(), large_.size()});
      }
      large_.insert(large_.end(), some.begin(), some.end());
      jobs_.back().last = large_.size();
    }
  }

  /// One message to each destination; returns how many there are. visit(each) calls each(item, destination) for all of the
  /// `items`, in the same order whenever it is called. Time: O(items + p), or by sorting where there are few items.
  template <typename Item, typename Visit>
  static std::int64_t send_grouped(World& w, Queue<Item>& queue, std::size_t items, const Visit& visit) {
    std::int64_t destinations = 0;
    if (items < static_cast<std::size_t>(w.size())) {
      std::vector<std::pair<std::int64_t, Item>> order;
      order.reserve(items);
      visit([&](const Item& item, std::int64_t to) { order.emplace_back(to, item); });
      std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t i = 0, end = 0; i < order.size(); i = end, ++destinations) {
        while (end < order.size() && order[end].first == order[i].first) ++end;
        const auto room = queue.room(static_cast<int>(order[i].first), end - i);
        for (std::size_t k = 0; k < room.size(); ++k) room[k] = order[i + k].second;
      }
      return destinations;
    }
    std::vector<std::size_t> counts(static_cast<std::size_t>(w.size()));
    visit([&](const Item&, std::int64_t to) { ++counts[static_cast<std::size_t>(to)]; });
    std::vector<Item*> next(counts.size());
    for (std::size_t there = 0; there < counts.size(); ++there) {
      if (counts[there] == 0) continue;
      next[there] = queue.room(static_cast<int>(there), counts[there]).data();
      ++destinations;
    }
    visit([&](const Item& item, std::int64_t to) { *next[static_cast<std::size_t>(to)]++ = item; });
    return destinations;
  }

  /// One superstep: the segments go back to where the queries came from.
  std::vector<std::int64_t> bring_home(World& w, std::size_t count) {
    charge(w);
    struct Found {
      std::int64_t segment;
      std::int64_t slot;
    };
    Queue<Found> found(w);
    send_grouped(w, found, here_.size() + large_.size(), [&](const auto& each) {
      for (const auto* travellers : {&here_, &large_}) {
        for (const Traveller& one : *travellers) each(Found{one.node, one.slot}, one.origin);
      }
    });
    here_.clear(), large_.clear(), jobs_.clear();
    w.sync();
    std::vector<std::int64_t> segments(count);
    for (const auto& message : found) {
      for (const Found& one : message.values) segments[static_cast<std::size_t>(one.slot)] = one.segment;
    }
    return segments;
  }

  MultisearchOptions options_;
  Less less_;
  SearchTree<Splitter> tree_;
  int levels_;
  std::int64_t d_;  ///< children of a node

  std::int64_t part_ = 1, small_ = 1;
  std::vector<Traveller> here_;       ///< small jobs: their nodes are kept on this processor
  std::vector<Traveller> large_;      ///< of large jobs
  std::vector<Job> jobs_;             ///< large jobs, by position
  std::vector<Child> children_;       ///< on their way
  std::vector<std::uint32_t> order_;  ///< travellers in large_, by child
  std::int64_t work_ = 0;
  MultisearchCounts counts_;
};

}  // namespace chasqui::bsp
