// SPDX-License-Identifier: MIT
#include "translate/placement.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "chasqui/base/error.hpp"

namespace chasqui::translate {
namespace {

constexpr std::int64_t kLatest = std::int64_t{1} << 62;

/// What is taken of one processor's time.
class Processor {
 public:
  /// The first moment from `time` on that is `gap` away from all of `begins`.
  static std::int64_t apart(const std::set<std::int64_t>& begins, std::int64_t time, std::int64_t gap) {
    for (auto near = begins.upper_bound(time - gap); near != begins.end() && *near < time + gap; ++near) {
      time = *near + gap;
    }
    return time;
  }

  /// The first moment from `time` on at which the processor is idle for `ticks`.
  std::int64_t idle(std::int64_t time, std::int64_t ticks) const {
    if (ticks == 0) return time;
    auto next = busy_.upper_bound(time);
    if (next != busy_.begin()) time = std::max(time, std::prev(next)->second);
    for (; next != busy_.end() && next->first < time + ticks; ++next) time = std::max(time, next->second);
    return time;
  }

  void occupy(std::int64_t begin, std::int64_t ticks) {
    if (ticks > 0) busy_[begin] = begin + ticks;
  }

  std::set<std::int64_t> sends;
  std::set<std::int64_t> receptions;

 private:
  std::map<std::int64_t, std::int64_t> busy_;  // begin and end
};

class Player {
 public:
  Player(const LogP& machine, const std::vector<Action>& actions, std::string_view file)
      : machine_(machine), actions_(actions), file_(file), processors_(static_cast<std::size_t>(machine.P)),
        awaits_(actions.size()), ready_at_(actions.size()), followers_(actions.size()),
        begin_followers_(actions.size()) {
    placement_.spans.resize(actions.size());
    for (std::uint32_t a = 0; a < actions.size(); ++a) {
      const Action& action = actions[a];
      const bool receives = action.kind == Action::Kind::receive;
      awaits_[a] = static_cast<std::uint32_t>(action.after.size() + action.after_begin.size()) + (receives ? 1 : 0);
      for (const std::uint32_t before : action.after) followers_[before].push_back(a);
      for (const std::uint32_t before : action.after_begin) begin_followers_[before].push_back(a);
    }
  }

  Placement play() && {
    for (std::uint32_t a = 0; a < actions_.size(); ++a) {
      if (awaits_[a] == 0) queue_.push({0, a});
    }
    while (!queue_.empty()) {
      const auto [time, a] = queue_.top();
      queue_.pop();
      begin(a, time);
    }
    if (placement_.order.size() < actions_.size()) {
      const auto waits = std::find_if(awaits_.begin(), awaits_.end(), [](std::uint32_t n) { return n > 0; });
      placement_.stuck = static_cast<std::uint32_t>(waits - awaits_.begin());
    }
    return std::move(placement_);
  }

 private:
  Processor& processor(std::uint32_t a) { return processors_[static_cast<std::size_t>(actions_[a].rank.index)]; }

  void begin(std::uint32_t a, std::int64_t time) {
    placement_.order.push_back(a);
    switch (actions_[a].kind) {
      case Action::Kind::send: return send(a, time);
      case Action::Kind::receive: return end(a, time, time);
      case Action::Kind::compute: {
        const std::int64_t begin = processor(a).idle(time, actions_[a].ticks);
        processor(a).occupy(begin, actions_[a].ticks);
        return end(a, begin, begin + actions_[a].ticks);
      }
    }
  }

  void send(std::uint32_t a, std::int64_t time) {
    const std::int64_t o = machine_.o.ticks;
    const std::int64_t flight = o + machine_.L.ticks;
    const std::int64_t gap = machine_.gap().ticks;
    const std::uint32_t reception = *actions_[a].partner;
    Processor& from = processor(a);
    Processor& to = processor(reception);
    for (std::int64_t tried = -1; tried != time;) {
      tried = time;
      time = from.idle(Processor::apart(from.sends, time, gap), o);
      time = to.idle(Processor::apart(to.receptions, time + flight, gap), o) - flight;
    }
    from.occupy(time, o);
    from.sends.insert(time);
    to.occupy(time + flight, o);
    to.receptions.insert(time + flight);
    end(a, time, time + o);
    settle(reception, time + flight + o);
  }

  void end(std::uint32_t a, std::int64_t begin, std::int64_t end) {
    if (end > kLatest) throw Error("{}: it lasts more than 2^62 ticks: use a coarser unit of time", file_);
    placement_.spans[a] = {Time{begin}, Time{end}};
    for (const std::uint32_t follower : begin_followers_[a]) settle(follower, begin);
    for (const std::uint32_t follower : followers_[a]) settle(follower, end);
  }

  /// One of the things that `a` waits for has come, at `time`.
  void settle(std::uint32_t a, std::int64_t time) {
    ready_at_[a] = std::max(ready_at_[a], time);
    if (--awaits_[a] == 0) queue_.push({ready_at_[a], a});
  }

  using Ready = std::pair<std::int64_t, std::uint32_t>;

  const LogP& machine_;
  const std::vector<Action>& actions_;
  std::string_view file_;
  std::vector<Processor> processors_;
  std::vector<std::uint32_t> awaits_;
  std::vector<std::int64_t> ready_at_;
  std::vector<std::vector<std::uint32_t>> followers_;
  std::vector<std::vector<std::uint32_t>> begin_followers_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> queue_;
  Placement placement_;
};

}  // namespace

Placement place(const LogP& machine, const std::vector<Action>& actions, std::string_view file) {
  return Player(machine, actions, file).play();
}

}  // namespace chasqui::translate
