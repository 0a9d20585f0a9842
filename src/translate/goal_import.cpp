// SPDX-License-Identifier: MIT
// From GOAL text to a schedule. The grammar is that of LogGOPSim: `num_ranks N`, and for each rank a block of
// `label: send 8b to 1 tag 0`, `recv 8b from 0 tag 0`, `calc 100`, `a requires b` and `a irequires b`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/translate/translate.hpp"
#include "translate/contributions.hpp"
#include "translate/placement.hpp"

namespace chasqui::translate {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kMostTicks = 1'000'000'000'000'000;

struct Message {
  Rank peer;
  std::int64_t bytes = 0;
  std::int64_t tag = 0;
};

/// The text as actions.
class GoalReader {
 public:
  GoalReader(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  void read() {
    std::vector<std::string_view> words;
    while (next_line(words)) {
      if (ranks == 0) read_size(words);
      else if (!rank_) open(words);
      else if (words[0] == "}") close();
      else read_operation(words);
    }
    if (ranks == 0) fail("num_ranks is missing: give a GOAL file");
    if (rank_) fail("rank {} is not closed: add }}", rank_->index);
    connect();
  }

  std::int64_t ranks = 0;
  std::vector<Action> actions;
  std::set<std::int64_t> sizes;

  std::string where(std::uint32_t action) const { return fmt::format("{}: line {}", place_, lines_[action]); }

 private:
  template <typename... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> what, Arguments&&... arguments) const {
    throw Error("{}: line {}: {}", place_, line_, fmt::format(what, std::forward<Arguments>(arguments)...));
  }

  /// The words of the next line that has some; a brace is a word. Comments run from // to the end of the line, or from /* to */.
  bool next_line(std::vector<std::string_view>& words) {
    words.clear();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!words.empty()) return true;
        ++at_, ++line_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == ';') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//" || c == '#') {
        at_ = std::min(text_.size(), text_.find('\n', at_));
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail("a comment is not closed: add */");
        line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                            text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        at_ = end + 2;
      } else if (c == '{' || c == '}') {
        if (c == '}' && !words.empty()) return true;
        words.push_back(text_.substr(at_++, 1));
        return true;
      } else {
        const std::size_t end = std::min(text_.size(), text_.find_first_of(" \t\r\n;{}", at_));
        words.push_back(text_.substr(at_, end - at_));
        at_ = end;
      }
    }
    return !words.empty();
  }

  std::int64_t number(std::string_view digits, std::int64_t most, std::string_view what) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0 || value > most)
      fail("'{}': {} is a number from 0 to {}", digits, what, most);
    return value;
  }

  void read_size(const std::vector<std::string_view>& words) {
    if (words.size() != 2 || words[0] != "num_ranks") fail("the file begins with num_ranks N");
    ranks = number(words[1], kMostRanks, "num_ranks");
    if (ranks == 0) fail("num_ranks 0: at least one rank is needed");
    opened_.resize(static_cast<std::size_t>(ranks));
  }

  void open(const std::vector<std::string_view>& words) {
    if (words.size() != 3 || words[0] != "rank" || words[2] != "{") fail("'{}': use rank R {{", words[0]);
    rank_ = Rank{static_cast<std::int32_t>(number(words[1], ranks - 1, "a rank"))};
    if (opened_[static_cast<std::size_t>(rank_->index)]) fail("rank {} is there twice: keep one", rank_->index);
    opened_[static_cast<std::size_t>(rank_->index)] = true;
    labels_.clear();
  }

  /// What operations require may stand before and after them.
  void close() {
    const std::int64_t last = line_;
    for (const Requirement& requirement : requirements_) {
      line_ = requirement.line;
      Action& later = actions[labelled(requirement.later)];
      (requirement.how == "requires" ? later.after : later.after_begin).push_back(labelled(requirement.earlier));
    }
    line_ = last;
    requirements_.clear();
    rank_.reset();
  }

  void read_operation(std::vector<std::string_view> words) {
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) {
      requirements_.push_back({line_, words[0], words[1], words[2]});
      return;
    }
    std::string_view label;
    if (words[0].ends_with(':')) {
      label = words[0].substr(0, words[0].size() - 1);
      words.erase(words.begin());
    }
    // Which processor or adapter of the node does it: there is one of each here.
    while (words.size() > 2 && (words[words.size() - 2] == "cpu" || words[words.size() - 2] == "nic")) {
      words.resize(words.size() - 2);
    }
    const auto action = static_cast<std::uint32_t>(actions.size());
    if (words.size() == 2 && words[0] == "calc") {
      actions.push_back({.rank = *rank_, .ticks = number(words[1], kMostTicks, "a calculation")});
    } else if (words.size() >= 4 && words[0] == "send" && words[2] == "to") {
      const Message message = this->message(words);
      actions.push_back({.kind = Action::Kind::send, .rank = *rank_});
      sends_[{rank_->index, message.peer.index, message.tag}].push_back(action);
    } else if (words.size() >= 4 && words[0] == "recv" && words[2] == "from") {
      const Message message = this->message(words);
      actions.push_back({.kind = Action::Kind::receive, .rank = *rank_});
      receptions_[{message.peer.index, rank_->index, message.tag}].push_back(action);
    } else {
      fail("'{}': use send BYTESb to R tag T, recv BYTESb from R tag T, calc TICKS or A requires B",
           fmt::join(words, " "));
    }
    lines_.push_back(line_);
    if (!label.empty() && !labels_.emplace(label, action).second) fail("the label {} is there twice", label);
  }

  Message message(const std::vector<std::string_view>& words) {
    std::string_view bytes = words[1];
    if (bytes.ends_with('b')) bytes.remove_suffix(1);
    Message message{Rank{static_cast<std::int32_t>(number(words[3], ranks - 1, "a rank"))},
                    number(bytes, kMostTicks, "a size")};
    if (words.size() == 6 && words[4] == "tag") message.tag = number(words[5], kMostTicks, "a tag");
    else if (words.size() != 4) fail("'{}': only `tag T` may follow the rank", words[4]);
    if (message.peer == *rank_) fail("rank {} sends to itself: use calc", rank_->index);
    sizes.insert(message.bytes);
    return message;
  }

  std::uint32_t labelled(std::string_view label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail("no operation of rank {} is called {}", rank_->index, label);
    return found->second;
  }

  /// The n-th send to a rank with a tag is the n-th reception there.
  void connect() {
    for (const auto& [link, sends] : sends_) receptions_[link];
    for (const auto& [link, receptions] : receptions_) {
      const auto& sends = sends_[link];
      const auto& [from, to, tag] = link;
      if (sends.size() != receptions.size()) {
        throw Error("{}: from rank {} to {} with tag {}: {} messages are sent and {} received", place_, from, to, tag,
                    sends.size(), receptions.size());
      }
      for (std::size_t i = 0; i < sends.size(); ++i) {
        actions[sends[i]].partner = receptions[i];
        actions[receptions[i]].partner = sends[i];
      }
    }
  }

  using Link = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // from, to, tag
  struct Requirement {
    std::int64_t line;
    std::string_view later, how, earlier;
  };

  std::string_view text_;
  std::string_view place_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::optional<Rank> rank_;
  std::vector<bool> opened_;
  std::map<std::string_view, std::uint32_t> labels_;  // of this rank
  std::vector<Requirement> requirements_;             // of this rank
  std::map<Link, std::vector<std::uint32_t>> sends_, receptions_;
  std::vector<std::int64_t> lines_;  // of each action
};

/// What the messages carry, played in the order of the placement.
class Flow {
 public:
  Flow(const Problem& problem, const GoalReader& goal, Schedule& schedule)
      : problem_(problem), goal_(goal), schedule_(schedule), P_(goal.ranks) {
    if (!combines(problem.kind)) return;
    for (std::int32_t r = 0; r < P_; ++r) knows_.emplace_back(P_, Rank{r});
    carried_.resize(goal.actions.size());
  }

  void follow(std::uint32_t a, Time begin) {
    const Action& action = goal_.actions[a];
    if (action.kind == Action::Kind::send) send(a, begin);
    if (action.kind == Action::Kind::receive && combines(problem_.kind)) receive(a);
  }

 private:
  void send(std::uint32_t a, Time begin) {
    const Rank from = goal_.actions[a].rank;
    const Rank to = goal_.actions[*goal_.actions[a].partner].rank;
    Send message{begin, from, to, {0, 1}};
    switch (problem_.kind) {
      case Kind::broadcast: break;
      case Kind::scatter: message.part.lo = to.index; break;
      case Kind::gather:
      case Kind::allgather: message.part.lo = from.index; break;
      case Kind::alltoall: message = block(message); break;
      default: {
        Contributions& mine = knows_[static_cast<std::size_t>(from.index)];
        carried_[*goal_.actions[a].partner] = mine;
        if (mine.count() == 0)
          throw Error("{}: rank {} sends again, but has handed over all that it had", goal_.where(a), from.index);
        if (!set_parts(message, mine)) {
          throw Error("{}: it sends what {} ranks know, which are no two intervals: the model has no such message",
                      goal_.where(a), mine.count());
        }
        if (problem_.kind == Kind::reduce) mine = Contributions(P_);
      }
    }
    schedule_.sends.push_back(message);
  }

  Send block(Send message) const {
    const std::int64_t item = std::int64_t{message.from.index} * P_ + message.to.index;
    message.part.lo = static_cast<std::int32_t>(item % (std::int64_t{1} << 31));
    message.second.lo = static_cast<std::int32_t>(item / (std::int64_t{1} << 31));
    return message;
  }

  void receive(std::uint32_t a) { knows_[static_cast<std::size_t>(goal_.actions[a].rank.index)].unite(*carried_[a]); }

  const Problem& problem_;
  const GoalReader& goal_;
  Schedule& schedule_;
  std::int64_t P_;
  std::vector<Contributions> knows_;
  std::vector<std::optional<Contributions>> carried_;  // by the reception
};

void require_plain(const Problem& problem) {
  const bool known = problem.kind != Kind::scan && problem.kind != Kind::sum && problem.kind != Kind::stream &&
                     problem.kind != Kind::reduce_scatter;
  if (known && problem.items == 1) return;
  throw Error(
      "GOAL does not say what messages carry, and for {} of {} it does not follow from who sends to whom: import a "
      "broadcast, reduce, allreduce, barrier, or a scatter, gather, allgather or alltoall without detours, of one item",
      to_string(problem.kind), problem.items);
}

}  // namespace

Imported from_goal(std::string_view text, std::string_view place, const Machine& machine, const Problem& problem) {
  require_plain(problem);
  GoalReader goal(text, place);
  goal.read();
  constexpr std::int64_t kMostFolding = 16'384;
  if (combines(problem.kind) && goal.ranks > kMostFolding) {
    throw Error("{}: {} ranks: who knows what is followed for {} at most", place, goal.ranks, kMostFolding);
  }
  Imported result;
  result.name = "GOAL";
  Schedule& schedule = result.schedule;
  schedule.machine = {goal.ranks, machine.L, machine.o, machine.g};
  schedule.problem = problem;
  validate(schedule.machine);
  validate(problem, schedule.machine);
  const Placement placement = translate::place(schedule.machine, goal.actions, place);
  if (placement.stuck) {
    throw Error("{}: it waits for itself in the end: the program hangs", goal.where(*placement.stuck));
  }
  Flow flow(problem, goal, schedule);
  for (const std::uint32_t a : placement.order) flow.follow(a, placement.spans[a].begin);
  schedule.finish = actual_finish(schedule);
  normalise(schedule);
  if (goal.sizes.size() > 1) {
    result.notes.push_back(
        fmt::format("messages of {} to {} bytes count as one size", *goal.sizes.begin(), *goal.sizes.rbegin()));
  }
  result.notes.push_back(fmt::format("taken for {}: the file does not say", to_string(problem.kind)));
  return result;
}

}  // namespace chasqui::translate
