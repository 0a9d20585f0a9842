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
#include <span>
#include <unordered_map>
#include <vector>

#include "chasqui/bsp/search_tree.hpp"
#include "chasqui/bsp/tree_scan.hpp"

namespace chasqui::bsp {
/// How searches are packed and spread.
struct MultisearchOptions {
  int d = 16;              ///< degree of the search tree
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
      : options_(options), less_(less), tree_(w, mine, options.d, make_mapping(w.size(), options)),
        levels_(tree_.levels()) {
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
                 size = 0;  ///< it fills positions start .. start+size-1 of all processors
    std::int64_t at = 0;    ///< where this part begins
    std::vector<Traveller> travellers;
    std::vector<Splitter> splitters;
    std::vector<std::int64_t> before, totals;  ///< of each child: on earlier processors; in all
  };
  struct Parcel {  ///< goes ahead of a span of travellers of a large job
    std::int64_t node, start, size, at;
  };

  static NodeMapping make_mapping(int p, const MultisearchOptions& options) {
    if (options.d < 2) throw Error("multisearch: d = {}: at least 2", options.d);
    if (options.z < 0 || options.z > p) throw Error("multisearch: z = {}: from 0 to p = {}", options.z, p);
    return options.z == 0 ? NodeMapping::random(p, options.seed)
                          : NodeMapping::z_mapping(p, options.d, options.z, options.seed);
  }
  bool leaves_right(const World& w, const Job& job) const { return job.start + job.size > (w.rank() + 1) * part_; }
  bool comes_from_left(const World& w, const Job& job) const { return job.start < w.rank() * part_; }

  std::int64_t child_of(const Query& query, std::span<const Splitter> splitters) {
    const auto right = std::partition_point(splitters.begin(), splitters.end(),
                                            [&](const Splitter& splitter) { return !less_(query, splitter); });
    work_ += static_cast<std::int64_t>(std::bit_width(splitters.size()));
    return right - splitters.begin();
  }

  void charge(World& w) {
    w.charge(work_);
    counts_.comparisons += work_;
    work_ = 0;
  }

  /// All queries are at the root: one job, large or small.
  void begin(World& w, std::span<const Query> queries) {
    const auto count = static_cast<std::int64_t>(queries.size());
    const std::int64_t first = w.exclusive_scan(count, std::plus<>{}, std::int64_t{0});
    const std::int64_t n = w.allreduce(count, std::plus<>{});
    part_ = std::max<std::int64_t>(1, (n + w.size() - 1) / w.size());
    small_ = options_.small > 0 ? options_.small
                                : std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(part_))));
    jobs_.clear(), here_.clear();
    std::vector<Traveller> all;
    all.reserve(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i)
      all.push_back({queries[i], w.rank(), static_cast<std::int32_t>(i), 0});
    if (levels_ == 0) {
      here_ = std::move(all);
      return;
    }
    Job root{0, 0, n, first, std::move(all), {}, {first}, {n}};
    children_of_large_.clear();
    if (n > 0) place(root, root.travellers);
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
      job.splitters = answers[owner][used[owner]++];
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
    for (Traveller& one : here_)
      one.node = one.node * options_.d + child_of(one.query, tree_.splitters(level, one.node));
  }

  /// Every traveller of a large job finds its child; a two-way segmented scan tells how many go where.
  /// Returns whether there is any large job on any processor.
  bool descend_large(World& w, bool last) {
    const auto d = static_cast<std::size_t>(options_.d);
    for (Job& job : jobs_) {
      job.totals.assign(d, 0);
      for (Traveller& one : job.travellers) {
        const std::int64_t child = child_of(one.query, job.splitters);
        ++job.totals[static_cast<std::size_t>(child)];
        one.node = job.node * options_.d + child;
      }
    }
    if (last) return true;
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
    const auto d = static_cast<std::size_t>(options_.d);
    children_of_large_.clear();
    for (Job& job : jobs_) {
      std::vector<std::vector<Traveller>> children(d);
      for (const Traveller& one : job.travellers)
        children[static_cast<std::size_t>(one.node - job.node * options_.d)].push_back(one);
      std::int64_t start = job.start;
      for (std::size_t c = 0; c < d; ++c) {
        Job child{job.node * options_.d + static_cast<std::int64_t>(c),
                  start,
                  job.totals[c],
                  start + job.before[c],
                  {},
                  {},
                  {},
                  {}};
        start += job.totals[c];
        if (!children[c].empty()) place(child, children[c]);
      }
    }
    jobs_.clear();
  }

  /// Keeps the travellers of one job of the next level until route() sends them.
  void place(const Job& job, std::vector<Traveller>& travellers) {
    Job child{job.node, job.start, job.size, job.at, std::move(travellers), {}, {}, {}};
    children_of_large_.push_back(std::move(child));
  }

  /// One superstep: everybody goes where the next level wants it.
  void route(World& w, int level) {
    charge(w);
    Queue<Traveller> small(w), large(w);
    Queue<Parcel> parcels(w);
    // Small jobs that were here, by destination: one message each.
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    order.reserve(here_.size());
    for (std::uint32_t i = 0; i < here_.size(); ++i) {
      order.emplace_back(tree_.mapping().child_owner(level, here_[i].node, w.rank()), i);
    }
    counts_.most_small_blocks = std::max(counts_.most_small_blocks, send_grouped(small, here_, order));
    here_.clear();
    order.clear();
    std::vector<Traveller> fallen;  // jobs that were large and are small now
    std::int64_t large_blocks = 0;
    for (Job& job : children_of_large_) {
      if (job.size <= small_) {
        const std::int64_t owner = tree_.mapping().owner(level, job.node);
        for (const Traveller& one : job.travellers) {
          order.emplace_back(owner, static_cast<std::uint32_t>(fallen.size()));
          fallen.push_back(one);
        }
        continue;
      }
      for (std::size_t i = 0; i < job.travellers.size();) {
        const std::int64_t at = job.at + static_cast<std::int64_t>(i), to = at / part_;
        const std::int64_t room = (to + 1) * part_ - at;
        const auto count = std::min<std::size_t>(static_cast<std::size_t>(room), job.travellers.size() - i);
        parcels.send(static_cast<int>(to), Parcel{job.node, job.start, job.size, at});
        large.send(static_cast<int>(to), std::span<const Traveller>(job.travellers).subspan(i, count));
        i += count;
        ++large_blocks;
      }
    }
    large_blocks += send_grouped(small, fallen, order);
    counts_.most_large_blocks = std::max(counts_.most_large_blocks, large_blocks);
    children_of_large_.clear();
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
        jobs_.push_back({parcel.node, parcel.start, parcel.size, parcel.at, {}, {}, {}, {}});
      }
      jobs_.back().travellers.insert(jobs_.back().travellers.end(), some.begin(), some.end());
    }
  }

  /// One message to each destination; returns how many there are.
  std::int64_t send_grouped(Queue<Traveller>& queue, const std::vector<Traveller>& travellers,
                            std::vector<std::pair<std::int64_t, std::uint32_t>>& order) {
    std::sort(order.begin(), order.end());
    std::vector<Traveller> group;
    std::int64_t destinations = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      group.push_back(travellers[order[i].second]);
      if (i + 1 == order.size() || order[i + 1].first != order[i].first) {
        queue.send(static_cast<int>(order[i].first), group);
        group.clear();
        ++destinations;
      }
    }
    return destinations;
  }

  /// One superstep: the segments go back to where the queries came from.
  std::vector<std::int64_t> bring_home(World& w, std::size_t count) {
    charge(w);
    struct Found {
      std::int64_t segment;
      std::int64_t slot;
    };
    std::vector<std::pair<int, Found>> home;
    for (const Traveller& one : here_) home.push_back({one.origin, {one.node, one.slot}});
    for (const Job& job : jobs_) {
      for (const Traveller& one : job.travellers) home.push_back({one.origin, {one.node, one.slot}});
    }
    std::sort(home.begin(), home.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Queue<Found> found(w);
    std::vector<Found> group;
    for (std::size_t i = 0; i < home.size(); ++i) {
      group.push_back(home[i].second);
      if (i + 1 == home.size() || home[i + 1].first != home[i].first) {
        found.send(home[i].first, group);
        group.clear();
      }
    }
    here_.clear(), jobs_.clear();
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

  std::int64_t part_ = 1, small_ = 1;
  std::vector<Traveller> here_;         ///< small jobs: their nodes are kept on this processor
  std::vector<Job> jobs_;               ///< large jobs, by position
  std::vector<Job> children_of_large_;  ///< on their way
  std::int64_t work_ = 0;
  MultisearchCounts counts_;
};

}  // namespace chasqui::bsp
