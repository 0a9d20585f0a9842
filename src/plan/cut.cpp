// SPDX-License-Identifier: MIT
#include "plan/cut.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "plan/relabelled_plan.hpp"

namespace chasqui::plan {
namespace {

std::size_t at(Rank rank) { return static_cast<std::size_t>(rank.index); }

/// What is left of a schedule, for another problem.
Schedule emptied(const Schedule& harder, const Problem& problem) {
  return {harder.machine, problem, {}, {}, {}, {}, {}, {}, {}, harder.nodes};
}

Schedule finished(Schedule schedule) {
  normalise(schedule);
  schedule.finish = actual_finish(schedule);
  return schedule;
}

/// The events of a schedule of intervals, each made of what its rank has by then.
class FoldsWithin {
 public:
  FoldsWithin(const Schedule& harder, const Problem& problem)
      : harder_(harder), problem_(problem), P_(harder.machine.P) {
    has_.resize(static_cast<std::size_t>(P_));
    for (std::int32_t r = 0; r < P_; ++r) has_[at(Rank{r})].emplace(r, Piece{1, Time{0}, kOwn});
    for (std::size_t i = 0; i < harder.sends.size(); ++i) open_.push_back({What::send, i, harder.sends[i].begin});
    for (std::size_t i = 0; i < harder.publications.size(); ++i)
      open_.push_back({What::publication, i, harder.publications[i].begin});
    for (std::size_t i = 0; i < harder.readings.size(); ++i)
      open_.push_back({What::reading, i, harder.readings[i].begin});
    std::stable_sort(open_.begin(), open_.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  }

  std::optional<Schedule> cut() && {
    while (make_some()) {
    }
    for (const auto& [rank, part] : promised()) {
      std::vector<std::size_t> used;
      if (!fold(rank, part, Time{kMaxTime}, used)) return std::nullopt;
      for (const std::size_t event : used) keep(event);
    }
    Schedule s = emptied(harder_, problem_);
    for (std::size_t event = 0; event < made_.size(); ++event) {
      if (!kept_[event]) continue;
      const auto [what, i, begin] = made_[event].event;
      if (what == What::send) s.sends.push_back(harder_.sends[i]);
      if (what == What::publication) s.publications.push_back(harder_.publications[i]);
      if (what == What::reading) s.readings.push_back(harder_.readings[i]);
    }
    return finished(std::move(s));
  }

 private:
  enum class What { send, publication, reading };
  struct Event {
    What what;
    std::size_t index;  ///< in its list
    Time begin;
  };
  /// What it waits for: indices into made_.
  struct Made {
    Event event;
    std::vector<std::size_t> needs;
  };
  struct Piece {
    std::int64_t len;
    Time since;
    std::size_t event;  ///< index into made_ of what brought it
  };
  static constexpr std::size_t kOwn = static_cast<std::size_t>(-1);

  std::vector<std::pair<Rank, Part>> promised() const {
    if (problem_.kind != Kind::scan) return {{problem_.root, Part{0, static_cast<std::int32_t>(P_)}}};
    std::vector<std::pair<Rank, Part>> all;
    for (std::int32_t r = problem_.exclusive ? 1 : 0; r < P_; ++r)
      all.push_back({Rank{r}, Part{0, problem_.exclusive ? r : r + 1}});
    return all;
  }

  /// Makes all events that can be made of those that are made. Events that take no time may wait for one that comes later in the list.
  bool make_some() {
    const std::size_t before = made_.size();
    std::vector<Event> left;
    for (const Event& event : open_) {
      if (!make(event)) left.push_back(event);
    }
    open_ = std::move(left);
    return made_.size() > before;
  }

  bool make(const Event& event) {
    Made made{event, {}};
    const std::size_t number = made_.size();
    if (event.what == What::reading) {
      const Reading& r = harder_.readings[event.index];
      const auto published = published_.find({r.from, {r.part, r.second}});
      if (published == published_.end()) return false;
      const std::size_t from = published->second;
      if (made_[from].event.begin + harder_.nodes.publish > r.begin) return false;
      made.needs.push_back(from);
      receive(r.rank, r.part, r.second, r.begin + harder_.nodes.read, number);
    } else if (event.what == What::publication) {
      const Publication& p = harder_.publications[event.index];
      if (!fold(p.rank, p.part, p.begin, made.needs) || !fold(p.rank, p.second, p.begin, made.needs)) return false;
      published_.try_emplace({p.rank, {p.part, p.second}}, number);
    } else {
      const Send& s = harder_.sends[event.index];
      if (!fold(s.from, s.part, s.begin, made.needs) || !fold(s.from, s.second, s.begin, made.needs)) return false;
      receive(s.to, s.part, s.second, available(harder_.machine, s), number);
    }
    made_.push_back(std::move(made));
    kept_.push_back(false);
    return true;
  }

  void receive(Rank rank, const Part& part, const Part& second, Time since, std::size_t event) {
    for (const Part& p : {part, second}) {
      if (p.len > 0) has_[at(rank)].emplace(p.lo, Piece{p.len, since, event});
    }
  }

  /// Adds what brings the pieces that tile the interval to `used`. Of a whole circle the tiling may begin anywhere if operands may be reordered.
  bool fold(Rank rank, const Part& part, Time time, std::vector<std::size_t>& used) const {
    if (part.len == 0) return true;
    if (part.len < P_ || !problem_.commutative) return tile(rank, part.lo, part.len, time, used);
    std::int64_t last = -1;
    for (const auto& [lo, piece] : has_[at(rank)]) {
      if (lo != last && tile(rank, lo, part.len, time, used)) return true;
      last = lo;
    }
    return false;
  }

  bool tile(Rank rank, std::int64_t lo, std::int64_t len, Time time, std::vector<std::size_t>& used) const {
    const auto& pieces = has_[at(rank)];
    std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> reached{
        {0, {0, kOwn}}};  // offset → from where, by what
    std::vector<std::int64_t> open{0};
    while (!open.empty() && !reached.contains(len)) {
      const std::int64_t offset = open.back();
      open.pop_back();
      const auto [first, end] = pieces.equal_range((lo + offset) % P_);
      for (auto it = first; it != end; ++it) {
        const std::int64_t next = offset + it->second.len;
        if (it->second.since > time || next > len) continue;
        if (reached.try_emplace(next, offset, it->second.event).second) open.push_back(next);
      }
    }
    if (!reached.contains(len)) return false;
    for (std::int64_t offset = len; offset > 0;) {
      const auto [from, event] = reached.at(offset);
      if (event != kOwn) used.push_back(event);
      offset = from;
    }
    return true;
  }

  void keep(std::size_t event) {
    std::vector<std::size_t> open{event};
    while (!open.empty()) {
      const std::size_t next = open.back();
      open.pop_back();
      if (kept_[next]) continue;
      kept_[next] = true;
      open.insert(open.end(), made_[next].needs.begin(), made_[next].needs.end());
    }
  }

  const Schedule& harder_;
  const Problem& problem_;
  std::int64_t P_;
  std::vector<Event> open_;
  std::vector<Made> made_;
  std::vector<bool> kept_;                                                   ///< by index into made_
  std::vector<std::multimap<std::int64_t, Piece>> has_;                      ///< by rank: first contribution → piece
  std::map<std::pair<Rank, std::pair<Part, Part>>, std::size_t> published_;  ///< the first of that content
};

/// What rank p has for rank q is its contribution to an item of q.
class ReduceScatterByAlltoall final : public RelabelledPlan {
 public:
  using RelabelledPlan::RelabelledPlan;

  LocalForm local(Rank rank) const override {
    LocalForm form = RelabelledPlan::local(rank);
    rename(form.sends);
    rename(form.receives);
    rename(form.publications);
    rename(form.readings);
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = RelabelledPlan::schedule();
    rename(schedule.sends);
    rename(schedule.publications);
    rename(schedule.readings);
    normalise(schedule);
    return schedule;
  }

 private:
  template <typename Event>
  void rename(std::vector<Event>& events) const {
    for (Event& event : events) {
      const std::int64_t item = std::int64_t{event.second.lo} * (std::int64_t{1} << 31U) + event.part.lo;
      event.part = {static_cast<std::int32_t>(item % (machine_.P * problem_.items)), 1};
      event.second = {};
    }
    if (!std::is_sorted(events.begin(), events.end())) std::sort(events.begin(), events.end());
  }
};

}  // namespace

std::optional<Schedule> broadcast_within(const Schedule& harder, Rank root) {
  const Nodes& nodes = harder.nodes;
  /// A message, or a publication.
  struct Event {
    Time begin;
    bool message;
    std::size_t index;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < harder.sends.size(); ++i) events.push_back({harder.sends[i].begin, true, i});
  for (std::size_t i = 0; i < harder.publications.size(); ++i)
    events.push_back({harder.publications[i].begin, false, i});
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  std::map<Rank, std::vector<std::size_t>> readers;
  for (std::size_t i = 0; i < harder.readings.size(); ++i) readers[harder.readings[i].from].push_back(i);

  constexpr std::int64_t kRead = -2, kNobody = -1;
  struct Had {
    Time since{kMaxTime};
    std::int64_t message = kNobody;  ///< that brought it: an index into sends, or kRead
    std::size_t reading = 0;
  };
  std::vector<Had> has(static_cast<std::size_t>(harder.machine.P));
  std::vector<Time> published(has.size(), Time{kMaxTime});  // when the item begins to be published
  has[at(root)].since = Time{0};
  for (bool more = true; more;) {  // once, and again where something takes no time
    more = false;
    const auto reach = [&](Rank rank, const Had& had) {
      if (had.since >= has[at(rank)].since) return;
      has[at(rank)] = had;
      more = true;
    };
    for (const Event& event : events) {
      if (event.message) {
        const Send& s = harder.sends[event.index];
        if (has[at(s.from)].since <= s.begin)
          reach(s.to, {available(harder.machine, s), static_cast<std::int64_t>(event.index), 0});
        continue;
      }
      const Publication& p = harder.publications[event.index];
      if (has[at(p.rank)].since > p.begin || p.begin > published[at(p.rank)]) continue;
      published[at(p.rank)] = p.begin;
      for (const std::size_t i : readers[p.rank]) {
        const Reading& r = harder.readings[i];
        if (r.begin >= p.begin + nodes.publish) reach(r.rank, {r.begin + nodes.read, kRead, i});
      }
    }
  }
  Schedule s = emptied(harder, {.kind = Kind::broadcast, .root = root});
  std::vector<bool> read(has.size());
  for (std::int32_t r = 0; r < harder.machine.P; ++r) {
    const Had& had = has[at(Rank{r})];
    if (Rank{r} == root) continue;
    if (had.message == kNobody) return std::nullopt;
    if (had.message == kRead) {
      const Reading& reading = harder.readings[had.reading];
      s.readings.push_back({reading.begin, reading.rank, reading.from, {0, 1}});
      read[at(reading.from)] = true;
    } else {
      const Send& send = harder.sends[static_cast<std::size_t>(had.message)];
      s.sends.push_back(send_item(send.begin, send.from, send.to, 0));
    }
  }
  for (std::int32_t r = 0; r < harder.machine.P; ++r) {
    if (read[at(Rank{r})]) s.publications.push_back({published[at(Rank{r})], Rank{r}, {0, 1}});
  }
  return finished(std::move(s));
}

std::optional<Schedule> folds_within(const Schedule& harder, const Problem& problem) {
  return FoldsWithin(harder, problem).cut();
}

PlanPtr with_problem(PlanPtr plan, const Problem& problem, Claim claim) {
  claim.finish = plan->claim().finish;
  claim.construction = plan->claim().construction;
  const Nodes nodes = plan->nodes();
  return std::make_shared<RelabelledPlan>(std::move(plan), nodes, problem, std::move(claim));
}

PlanPtr reduce_scatter_by_alltoall(const Problem& problem, PlanPtr alltoall, Claim claim) {
  claim.finish = alltoall->claim().finish;
  claim.construction = "as an all-to-all: " + alltoall->claim().construction;
  const Nodes nodes = alltoall->nodes();
  return std::make_shared<ReduceScatterByAlltoall>(std::move(alltoall), nodes, problem, std::move(claim));
}

}  // namespace chasqui::plan
