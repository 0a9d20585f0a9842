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
      if (any_large) fetch_splitters(w, level);
      descend_small(level);
      if (any_large) any_large = descend_large(w, level);
      if (level + 1 < levels_) route(w, level + 1);
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
    std::size_t first = 0, last = 0;  ///< its travellers
    std::vector<Splitter> splitters{};
    std::vector<std::int64_t> here{}, before{},
        totals{};  ///< of each child: on this processor; on earlier ones; in all
  };
  struct Child {  ///< this processor's part of a job of the next level whose parent is large
    std::int64_t node, start, size, at;
    std::size_t count;   ///< its travellers
    std::int64_t owner;  ///< of the node of a small one
  };
  struct Fallen {                        ///< a large job that has found its children
    std::int64_t first_child;            ///< their nodes begin there
    std::size_t first, last;             ///< its travellers
    std::size_t children, children_end;  ///< in Leaving::children, those that are not empty
  };
  struct Leaving {  ///< on their way
    std::vector<Fallen> jobs;
    std::vector<Child> children;       ///< of those
    std::vector<std::uint32_t> child;  ///< of each traveller: which of its node's

    void clear() { jobs.clear(), children.clear(); }
  };
  struct Parcel {  ///< goes ahead of the travellers of a large job, all of which have its node
    std::int64_t node, start, size, at;
  };
  struct Cursor {  ///< where the next traveller of a child goes
    Traveller *next, *end;
    Traveller* then;  ///< and after the end
  };

  static const MultisearchOptions& checked(int p, const MultisearchOptions& options) {
    if (options.d < 2) throw Error("multisearch: d = {}: at least 2", options.d);
    if (options.z < 0 || options.z > p) throw Error("multisearch: z = {}: from 0 to p = {}", options.z, p);
    return options;
  }
  bool leaves_right(const World& w, const Job& job) const { return job.start + job.size > (w.rank() + 1) * part_; }
  bool comes_from_left(const World& w, const Job& job) const { return job.start < w.rank() * part_; }

  /// The children that the queries at(first) .. at(last - 1) go to: calls found(i, child) for each. Halves the splitters without a
  /// branch that depends on them, because which way a query goes cannot be foreseen, for several queries at a time, so that one
  /// need not wait for another's.
  template <typename At, typename Found>
  void find_children(std::span<const Splitter> splitters, std::size_t first, std::size_t last, const At& at,
                     const Found& found) {
    work_ += static_cast<std::int64_t>(last - first) * static_cast<std::int64_t>(std::bit_width(splitters.size()));
    constexpr std::size_t kTogether = 8;
    std::size_t i = first;
    for (; i + kTogether <= last; i += kTogether) find_some<kTogether>(splitters, i, at, found);
    for (; i < last; ++i) find_some<1>(splitters, i, at, found);
  }
  template <std::size_t kCount, typename At, typename Found>
  void find_some(std::span<const Splitter> splitters, std::size_t first, const At& at, const Found& found) const {
    const Splitter* place[kCount];
    std::fill(place, place + kCount, splitters.data());
    for (std::size_t left = splitters.size(); left > 1;) {
      const std::size_t half = left / 2;
      for (std::size_t k = 0; k < kCount; ++k) {
        const auto right = static_cast<std::size_t>(!less_(at(first + k), place[k][half - 1]));
        place[k] += half & (std::size_t{0} - right);  // compilers make a branch of half or nothing
      }
      left -= half;
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      const bool right = !splitters.empty() && !less_(at(first + k), *place[k]);
      found(first + k, place[k] - splitters.data() + static_cast<std::int64_t>(right));
    }
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
    jobs_.clear(), here_.clear(), large_.clear(), leaving_.clear();
    at_home_ = queries;
    if (levels_ <= 1) leave_home(w);
    if (levels_ == 0) return;  // they are where they end
    const std::int64_t begin = std::min(n, w.rank() * part_), end = std::min(n, begin + part_);
    const bool in_place = n > small_ && first == begin && first + count == end;
    if (w.allreduce(static_cast<int>(in_place), std::bit_and<>{}) != 0) {
      if (count > 0) jobs_.push_back({0, 0, n, first, 0, queries.size()});
      return;
    }
    leaving_.child.assign(queries.size(), 0);
    for (std::int64_t at = first; at < first + count;) {  // in parts for one processor each
      const std::int64_t some = std::min(first + count - at, part_ - at % part_);
      const auto from = static_cast<std::size_t>(at - first), size = static_cast<std::size_t>(some);
      leaving_.jobs.push_back({0, from, from + size, leaving_.children.size(), leaving_.children.size() + 1});
      leaving_.children.push_back({0, 0, n, at, size, tree_.mapping().owner(0, 0)});
      at += some;
    }
    route(w, 0);
  }

  /// Makes travellers of the queries, which are not moved before they must.
  void leave_home(const World& w) {
    large_.reserve(at_home_.size());
    for (std::size_t i = 0; i < at_home_.size(); ++i) large_.push_back(traveller_from_home(w.rank(), i));
    at_home_ = {};
  }
  Traveller traveller_from_home(int rank, std::size_t i) const {
    return {at_home_[i], rank, static_cast<std::int32_t>(i), 0};
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

  /// Those of one node came together from each processor.
  void descend_small(int level) {
    const auto query = [&](std::size_t i) -> const Query& { return here_[i].query; };
    for (std::size_t i = 0, end = 0; i < here_.size(); i = end) {
      const std::int64_t node = here_[i].node;
      while (end < here_.size() && here_[end].node == node) ++end;
      find_children(tree_.splitters(level, node), i, end, query,
                    [&](std::size_t which, std::int64_t child) { here_[which].node = node * d_ + child; });
    }
  }

  template <typename Found>
  void find_children(const Job& job, const Found& found) {
    const auto travelling = [&](std::size_t i) -> const Query& { return large_[i].query; };
    const auto at_home = [&](std::size_t i) -> const Query& { return at_home_[i]; };
    if (at_home_.empty()) find_children(job.splitters, job.first, job.last, travelling, found);
    else find_children(job.splitters, job.first, job.last, at_home, found);
  }

  /// Every traveller of a large job finds its child; a two-way segmented scan tells how many go where.
  /// Returns whether there is any large job on any processor.
  bool descend_large(World& w, int level) {
    const bool last = level + 1 == levels_;
    const auto d = static_cast<std::size_t>(d_);
    if (last) {
      for (const Job& job : jobs_)
        find_children(job, [&](std::size_t i, std::int64_t child) { large_[i].node = job.node * d_ + child; });
      return true;
    }
    leaving_.child.resize(std::max(large_.size(), at_home_.size()));
    for (Job& job : jobs_) {
      job.here.assign(d, 0);
      find_children(job, [&](std::size_t i, std::int64_t child) {
        leaving_.child[i] = static_cast<std::uint32_t>(child);
        ++job.here[static_cast<std::size_t>(child)];
      });
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
    split_jobs(level + 1);
    return any;
  }

  /// Large jobs fall into their children; a child keeps its place within the parent's positions.
  void split_jobs(int level) {
    for (const Job& job : jobs_) {
      std::int64_t start = job.start;
      const std::size_t first = leaving_.children.size();
      for (std::size_t c = 0; c < static_cast<std::size_t>(d_); ++c) {
        if (job.here[c] != 0) {
          const std::int64_t node = job.node * d_ + static_cast<std::int64_t>(c), size = job.totals[c];
          leaving_.children.push_back({node, start, size, start + job.before[c], static_cast<std::size_t>(job.here[c]),
                                       size <= small_ ? tree_.mapping().owner(level, node) : -1});
        }
        start += job.totals[c];
      }
      leaving_.jobs.push_back({job.node * d_, job.first, job.last, first, leaving_.children.size()});
    }
    jobs_.clear();
  }

  /// One superstep: everybody goes where the next level wants it.
  void route(World& w, int level) {
    charge(w);
    Queue<Traveller> small(w), others(w);
    Queue<Parcel> parcels(w);
    // Small jobs that were here, by destination: one message each.
    const std::int64_t small_blocks = send_grouped(w, small, here_.size(), [&](const auto& each) {
      for (const Traveller& one : here_) each(one, tree_.mapping().child_owner(level, one.node, w.rank()));
    });
    counts_.most_small_blocks = std::max(counts_.most_small_blocks, small_blocks);
    here_.clear();
    counts_.most_large_blocks = std::max(counts_.most_large_blocks, send_children(w, others, parcels));
    w.sync();
    for (const auto& message : small) here_.insert(here_.end(), message.values.begin(), message.values.end());
    std::vector<std::pair<Parcel, std::span<const Traveller>>> arrived;
    auto parcel = parcels.begin();
    for (const auto& message : others) {
      auto rest = message.values;
      for (; parcel != parcels.end() && parcel->from == message.from; ++parcel) {
        const auto other = [&](const Traveller& one) { return one.node != parcel->value().node; };
        const auto count = static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), other) - rest.begin());
        arrived.emplace_back(parcel->value(), rest.first(count));
        rest = rest.subspan(count);
      }
      here_.insert(here_.end(), rest.begin(), rest.end());
    }
    std::sort(arrived.begin(), arrived.end(), [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
    std::size_t count = 0;
    for (const auto& one : arrived) count += one.second.size();
    large_.reserve(count);
    for (const auto& [head, some] : arrived) {
      if (jobs_.empty() || jobs_.back().start != head.start) {
        jobs_.push_back({head.node, head.start, head.size, head.at, large_.size(), large_.size()});
      }
      large_.insert(large_.end(), some.begin(), some.end());
      jobs_.back().last = large_.size();
    }
  }

  /// The travellers of large jobs, one message to each destination: first those of jobs that are still large, by position, each
  /// announced by a parcel, then those of small ones. Everybody is moved once. Returns to how many processors parts went.
  std::int64_t send_children(World& w, Queue<Traveller>& queue, Queue<Parcel>& parcels) {
    std::vector<std::size_t> large(static_cast<std::size_t>(w.size())), small(large.size());
    std::int64_t blocks = 0;
    // Calls visit(destination, at, count) for the one or two parts of a large job's travellers.
    const auto for_each_part = [&](const Child& job, const auto& visit) {
      for (std::size_t done = 0; done < job.count;) {
        const std::int64_t at = job.at + static_cast<std::int64_t>(done), there = at / part_;
        const auto room = static_cast<std::size_t>((there + 1) * part_ - at);
        const std::size_t count = std::min(room, job.count - done);
        visit(static_cast<std::size_t>(there), at, count);
        done += count;
      }
    };
    for (const Child& job : leaving_.children) {
      if (job.size <= small_) {
        std::size_t& there = small[static_cast<std::size_t>(job.owner)];
        blocks += there == 0 ? 1 : 0;
        there += job.count;
        continue;
      }
      for_each_part(job, [&](std::size_t there, std::int64_t at, std::size_t count) {
        parcels.send(static_cast<int>(there), Parcel{job.node, job.start, job.size, at});
        large[there] += count;
        ++blocks;
      });
    }
    std::vector<Traveller*> next_large(large.size()), next_small(large.size());
    for (std::size_t there = 0; there < large.size(); ++there) {
      if (large[there] + small[there] == 0) continue;
      next_large[there] = queue.room(static_cast<int>(there), large[there] + small[there]).data();
      next_small[there] = next_large[there] + large[there];
    }
    std::vector<Cursor> cursors(static_cast<std::size_t>(d_));
    const auto take = [](Traveller*& next, std::size_t count) { return std::exchange(next, next + count); };
    for (const Fallen& parent : leaving_.jobs) {
      for (std::size_t i = parent.children; i < parent.children_end; ++i) {
        const Child& job = leaving_.children[i];
        Cursor& cursor = cursors[static_cast<std::size_t>(job.node - parent.first_child)];
        cursor = {};
        if (job.size <= small_) {
          cursor.next = take(next_small[static_cast<std::size_t>(job.owner)], job.count);
          continue;
        }
        for_each_part(job, [&](std::size_t there, std::int64_t, std::size_t count) {
          Traveller* const begin = take(next_large[there], count);
          if (cursor.next == nullptr) cursor.next = begin, cursor.end = begin + count;
          else cursor.then = begin;
        });
      }
      const auto move = [&](std::size_t i, Traveller one) {
        Cursor& cursor = cursors[leaving_.child[i]];
        one.node = parent.first_child + leaving_.child[i];
        *cursor.next++ = one;
        if (cursor.next == cursor.end) cursor.next = cursor.then;
      };
      if (at_home_.empty()) {
        for (std::size_t i = parent.first; i < parent.last; ++i) move(i, large_[i]);
      } else {
        for (std::size_t i = parent.first; i < parent.last; ++i) move(i, traveller_from_home(w.rank(), i));
      }
    }
    leaving_.clear(), large_.clear();
    at_home_ = {};
    return blocks;
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
  std::vector<Traveller> here_;     ///< small jobs: their nodes are kept on this processor
  std::vector<Traveller> large_;    ///< of large jobs
  std::span<const Query> at_home_;  ///< the same as they were given, before they travel first
  std::vector<Job> jobs_;           ///< large jobs, by position
  Leaving leaving_;
  std::int64_t work_ = 0;
  MultisearchCounts counts_;
};

}  // namespace chasqui::bsp
