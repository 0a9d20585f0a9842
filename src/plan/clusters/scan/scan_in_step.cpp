// SPDX-License-Identifier: MIT
// Scan on nodes that all do the same at the same time (clusters.md, Theorem 22). One node's day is made, in which it gets at once
// what it sends: a message to the node `distance` above it, and one from the node as far below. Whoever has no such neighbour leaves
// the event out. So a rank knows its own part without the others. Of a large node only the lanes have a day of their own: on its board all
// ranks are in step (board_rounds.hpp), and afterwards all others read the same at the same times. So do smaller nodes beside it, whose
// places are counted from the end (clusters.md, Theorem 47).
#include <algorithm>
#include <optional>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/clusters/scan/board_rounds.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostRadix = 256;
constexpr std::int64_t kMostFolded = 4;    ///< lanes of a group
constexpr std::int64_t kMostListed = 512;  ///< ranks of a node whose boards are listed, which saves a part of a round

/// What lies on a board or travels, seen from the node that has it.
struct Content {
  enum class What { width, whole, piece } what;
  /// width: the fold of so many ranks up to the one that publishes it. piece: of so many nodes, the uppermost `distance` below.
  std::int64_t count = 0, distance = 0;
};
struct Message {
  Time begin;
  std::int64_t lane;
  Content content;  ///< a piece, as the receiver sees it
};
struct Published {
  Time begin;
  std::int64_t place;
  Content content;
};
struct Read {
  Time begin;
  std::int64_t place;
  std::size_t published;
};

/// What a node of the largest size does that has neighbours at every distance. The first rank with a day may read for all below it, too.
struct Day {
  std::vector<Message> messages;
  std::vector<Published> publications;
  std::vector<Read> readings;
  Time finish{0};
};

/// Whose boards work in step, for all ranks alike.
bool boards_in_step(const Nodes& nodes) { return !nodes.uniform() || nodes.largest() > kMostListed; }

/// The first rank of the largest node with a day of its own: where boards are in step all lanes have, and one rank for all others.
std::int64_t first_with_a_day(const Nodes& nodes) {
  if (!boards_in_step(nodes)) return 0;
  return nodes.largest() - std::min(nodes.largest(), std::min(nodes.smallest() + 1, kMostRadix));
}

class Maker {
 public:
  explicit Maker(const Cluster& cluster)
      : N_(cluster.nodes.count()), n_(cluster.nodes.largest()), lambda_(cluster.base.lambda()),
        first_(first_with_a_day(cluster.nodes)), in_step_(boards_in_step(cluster.nodes)),
        publish_(cluster.nodes.publish), read_(cluster.nodes.read), one_(cluster) {
    one_.nodes.runs.clear();
    one_.nodes.add(n_ - first_);
    one_.base.P = n_ - first_;
  }

  /// A node whose ranks have their prefixes of it, and when each has.
  struct Folded {
    Day day;
    Timetable table;
    std::vector<Time> knows;
    Time end() const { return *std::max_element(knows.begin(), knows.end()); }
  };
  Folded fold(std::int64_t board) const {
    const Time since = in_step_ ? BoardRounds(one_.nodes, n_, board).time() : Time{0};
    Folded folded{{}, Timetable(one_, {.kind = Kind::scan}, 0), {}};
    folded.knows.assign(static_cast<std::size_t>(n_ - first_), since);
    folded.day.finish = since;
    if (!in_step_) fold_node(board, folded.day, folded.table, folded.knows);
    return folded;
  }

  /// In each round at most `lanes` ranks of a node receive, and each `group` of them fold what they got before all others read it.
  /// Nothing if it would not end before `limit`.
  std::optional<Day> make(const Folded& folded, std::int64_t radix, std::int64_t lanes, std::int64_t group,
                          Time limit) const {
    Time least = folded.knows.back();
    for_rounds(radix, [&](std::int64_t /*window*/, std::int64_t pieces) {
      const std::int64_t each = divide_up(pieces, std::min(pieces, lanes)), used = divide_up(pieces, each);
      least += lambda_ + (each - 1) * one_.base.gap();
      if (n_ > 1) least += publish_ + (divide_up(used, group) - 1) * read_;
      if (std::min(group, used) > 1) least += publish_ + read_;
    });
    if (least >= limit) return std::nullopt;
    auto [day, table, knows] = folded;
    if (lanes > 1) share_whole(lanes, day, table, knows);
    for_rounds(radix, [&, &day = day, &table = table, &knows = knows](std::int64_t window, std::int64_t pieces) {
      round(window, pieces, lanes, group, day, table, knows);
    });
    if (day.finish >= limit) return std::nullopt;
    return std::move(day);
  }

 private:
  /// Calls visit(window, pieces).
  template <typename Visit>
  void for_rounds(std::int64_t radix, Visit visit) const {
    for (std::int64_t window = 1; window < N_; window = saturating_multiply(window, radix))
      visit(window, std::min(radix - 1, (N_ - 1) / window));
  }

  Rank rank(std::int64_t place) const { return {static_cast<std::int32_t>(place - first_)}; }
  Time& at(std::vector<Time>& times, std::int64_t place) const {
    return times[static_cast<std::size_t>(place - first_)];
  }

  Time publish(Day& day, Timetable& table, std::int64_t place, const Content& content, Time earliest) const {
    const Time end = table.publish(rank(place), {}, earliest);
    day.publications.push_back({end - publish_, place, content});
    return end;
  }
  Time read(Day& day, Timetable& table, std::int64_t place, std::size_t published, Time earliest) const {
    const std::int64_t from = day.publications[published].place;
    const Time ready = day.publications[published].begin + publish_;
    const Time end = table.read(rank(place), rank(from), {}, std::max(earliest, ready));
    day.readings.push_back({end - read_, place, published});
    day.finish = std::max(day.finish, end);
    return end;
  }

  void fold_node(std::int64_t factor, Day& day, Timetable& table, std::vector<Time>& knows) const {
    for (std::int64_t width = 1; width < n_; width = saturating_multiply(width, factor)) {
      const std::size_t first = day.publications.size();
      for (std::int64_t i = 0; i + width < n_; ++i)  // those above do not read from anybody further up
        publish(day, table, i, {Content::What::width, std::min(width, i + 1)}, at(knows, i));
      for (std::int64_t i = n_; i-- > 0;) {
        for (std::int64_t j = 1; j < factor && i >= j * width; ++j)
          at(knows, i) = read(day, table, i, first + static_cast<std::size_t>(i - j * width), at(knows, i));
      }
    }
  }

  /// The `senders` last ranks then have all of the node. The last one has it already.
  void share_whole(std::int64_t senders, Day& day, Timetable& table, std::vector<Time>& knows) const {
    publish(day, table, n_ - 1, {Content::What::whole}, at(knows, n_ - 1));
    const std::size_t whole = day.publications.size() - 1;
    for (std::int64_t i = n_ - senders; i + 1 < n_; ++i) at(knows, i) = read(day, table, i, whole, at(knows, i));
  }

  /// A lane takes neighbouring pieces and publishes them as one; so does the first of a group, for all of it. The last rank, which has
  /// the fold of its node before all others, takes the first.
  void round(std::int64_t window, std::int64_t pieces, std::int64_t most_lanes, std::int64_t group, Day& day,
             Timetable& table, std::vector<Time>& knows) const {
    const std::int64_t each = divide_up(pieces, std::min(pieces, most_lanes)), lanes = divide_up(pieces, each);
    const std::vector<Time> before = knows;
    for (std::int64_t turn = 0; turn < each; ++turn) {
      for (std::int64_t lane = 0; lane < lanes && lane * each + turn < pieces; ++lane) {
        const std::int64_t place = n_ - 1 - lane, c = lane * each + turn + 1;
        const Time end = table.send(rank(place), rank(place), {}, before[static_cast<std::size_t>(place - first_)]);
        day.messages.push_back({end - lambda_, place, {Content::What::piece, window, c * window}});
        day.finish = std::max(day.finish, end);
        at(knows, place) = std::max(at(knows, place), end);
      }
    }
    if (n_ == 1) return;
    const auto of_lanes = [&](std::int64_t lane, std::int64_t count) {
      const std::int64_t theirs = std::min(count * each, pieces - lane * each);
      return Content{Content::What::piece, theirs * window, (lane * each + 1) * window};
    };
    for (std::int64_t lane = 0; lane < lanes; lane += group) {
      for (std::int64_t other = lane + 1; other < std::min(lane + group, lanes); ++other) {
        publish(day, table, n_ - 1 - other, of_lanes(other, 1), at(knows, n_ - 1 - other));
        const Time read_by_first = read(day, table, n_ - 1 - lane, day.publications.size() - 1, Time{0});
        at(knows, n_ - 1 - lane) = std::max(at(knows, n_ - 1 - lane), read_by_first);
      }
    }
    const std::size_t published = day.publications.size();
    for (std::int64_t lane = 0; lane < lanes; lane += group)
      publish(day, table, n_ - 1 - lane, of_lanes(lane, group), at(knows, n_ - 1 - lane));
    for (std::size_t p = published; p < day.publications.size(); ++p) {
      for (std::int64_t i = first_; i < n_; ++i) {
        if (i != day.publications[p].place) at(knows, i) = std::max(at(knows, i), read(day, table, i, p, Time{0}));
      }
    }
  }

  std::int64_t N_, n_;
  Time lambda_;
  std::int64_t first_;  ///< place of the first rank with a day
  bool in_step_;        ///< boards have done their rounds before it
  Time publish_, read_;
  Cluster one_;  ///< a node of the ranks that have a day
};

class ScanInStep final : public Plan {
 public:
  ScanInStep(const Cluster& cluster, const Problem& problem, Claim claim, std::int64_t board, Day day)
      : Plan(cluster, problem, std::move(claim)), where_(cluster.nodes), board_(board),
        in_step_(boards_in_step(cluster.nodes)), day_(std::move(day)), first_(first_with_a_day(cluster.nodes)),
        places_(static_cast<std::size_t>(where_.largest() - first_)) {
    for (std::size_t i = 0; i < day_.messages.size(); ++i) at(day_.messages[i].lane).messages.push_back(i);
    for (std::size_t i = 0; i < day_.publications.size(); ++i) at(day_.publications[i].place).publications.push_back(i);
    for (std::size_t i = 0; i < day_.readings.size(); ++i) at(day_.readings[i].place).readings.push_back(i);
    claim_.finish = end();
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const One node = node_at(where_.node_of(rank));
    const std::int64_t own = rank.index - node.first;
    const Place& place = places_[static_cast<std::size_t>(std::max<std::int64_t>(0, own + node.missing - first_))];
    if (in_step_) rounds(node).events(node.first, own, form.publications, form.readings);
    for (const std::size_t i : place.messages) {
      const Message& m = day_.messages[i];
      if (node.number + m.content.distance < where_.count())
        form.sends.push_back(message(m, node_at(node.number + m.content.distance)));
      if (exists(m.content, node)) form.receives.push_back(message(m, node));
    }
    for (const std::size_t i : place.publications) {
      if (on_board(day_.publications[i], node)) form.publications.push_back(publication(day_.publications[i], node));
    }
    for (const std::size_t i : place.readings) {
      if (on_board(day_.publications[day_.readings[i].published], node))
        form.readings.push_back(reading(day_.readings[i], node, own + node.missing));
    }
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const auto listed =
        static_cast<std::int64_t>(day_.messages.size() + day_.publications.size() + day_.readings.size());
    const std::int64_t of_rank =
        in_step_ ? rounds(node_at(0)).most_events() + static_cast<std::int64_t>(places_.front().readings.size()) : 0;
    require_listable(
        {machine_, nodes_}, problem_,
        saturating_add(saturating_multiply(listed, where_.count()), saturating_multiply(of_rank, machine_.P)));
    Schedule s = empty_schedule();
    for (std::int64_t number = 0; number < where_.count(); ++number) {
      const One node = node_at(number);
      for (const Message& m : day_.messages) {
        if (exists(m.content, node)) s.sends.push_back(message(m, node));
      }
      for (const Published& p : day_.publications) {
        if (on_board(p, node)) s.publications.push_back(publication(p, node));
      }
      for (const Read& r : day_.readings) {
        if (!on_board(day_.publications[r.published], node)) continue;
        const std::int64_t lowest = std::max(node.missing, r.place == first_ ? 0 : r.place);
        for (std::int64_t place = lowest; place <= r.place; ++place) s.readings.push_back(reading(r, node, place));
      }
      for (std::int64_t place = 0; in_step_ && place < node.size; ++place)
        rounds(node).events(node.first, place, s.publications, s.readings);
    }
    normalise(s);
    return s;
  }

 private:
  /// Indices into the day.
  struct Place {
    std::vector<std::size_t> messages, publications, readings;
  };
  struct One {
    std::int64_t number, first, size;
    std::int64_t missing;  ///< places of the largest node that this one has not, counted from its first
  };

  Place& at(std::int64_t place) { return places_[static_cast<std::size_t>(place - first_)]; }
  One node_at(std::int64_t number) const {
    const std::int64_t size = where_.size(number);
    return {number, where_.first_rank(number), size, where_.largest() - size};
  }
  BoardRounds rounds(const One& node) const { return {nodes_, node.size, board_}; }
  static Rank rank(const One& node, std::int64_t place) {
    return {static_cast<std::int32_t>(node.first + place - node.missing)};
  }

  /// The last node has nobody to tell of its whole; pieces come from nodes that there are.
  bool exists(const Content& content, const One& node) const {
    if (content.what == Content::What::whole) return node.number + 1 < where_.count();
    return content.what == Content::What::width || node.number >= content.distance;
  }
  bool on_board(const Published& p, const One& node) const { return node.size > 1 && exists(p.content, node); }
  Part part(const Content& content, const One& node, std::int64_t place) const {
    const auto from_to = [](std::int64_t first, std::int64_t end) {
      return Part{static_cast<std::int32_t>(first), static_cast<std::int32_t>(end - first)};
    };
    const std::int64_t end = node.first + place - node.missing + 1;
    if (content.what == Content::What::width) return from_to(end - content.count, end);
    if (content.what == Content::What::whole) return from_to(node.first, node.first + node.size);
    const std::int64_t top = node.number - content.distance;
    return from_to(where_.first_rank(std::max<std::int64_t>(0, top - content.count + 1)), where_.first_rank(top + 1));
  }

  /// Of what any node does. Small ones leave out the more of their day the fewer ranks they have.
  Time end() const {
    std::vector<std::int64_t> last(places_.size() + 1, -1);  // the last node that has so many ranks or more
    std::int64_t count = 0;
    for (const Nodes::Run& run : nodes_.runs) {
      count += run.count;
      std::int64_t& node = last[static_cast<std::size_t>(std::min(run.size, where_.largest() - first_))];
      node = count - 1;
    }
    for (std::size_t size = last.size() - 1; size-- > 0;) last[size] = std::max(last[size], last[size + 1]);
    Time end = in_step_ ? rounds({0, 0, where_.largest(), 0}).time() : Time{0};
    for (const Message& m : day_.messages) end = std::max(end, m.begin + machine_.lambda());
    for (const Read& r : day_.readings) {
      const Content& content = day_.publications[r.published].content;
      const std::int64_t node = last[static_cast<std::size_t>(std::max<std::int64_t>(2, where_.largest() - r.place))];
      if (content.what != Content::What::piece || node >= content.distance) end = std::max(end, r.begin + nodes_.read);
    }
    return end;
  }

  Send message(const Message& m, const One& receiver) const {
    return {m.begin, rank(node_at(receiver.number - m.content.distance), m.lane), rank(receiver, m.lane),
            part(m.content, receiver, m.lane)};
  }
  Publication publication(const Published& p, const One& node) const {
    return {p.begin, rank(node, p.place), part(p.content, node, p.place)};
  }
  Reading reading(const Read& r, const One& node, std::int64_t place) const {
    const Published& p = day_.publications[r.published];
    return {r.begin, rank(node, place), rank(node, p.place), part(p.content, node, p.place)};
  }

  NodeIndex where_;
  std::int64_t board_;  ///< by what factor a rank's part of its node grows a round
  bool in_step_;        ///< boards, before the day
  Day day_;
  std::int64_t first_;         ///< place of the first rank with a day
  std::vector<Place> places_;  ///< from there on
};

}  // namespace

PlanPtr scan_in_step(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  const Maker maker(cluster);
  const std::int64_t N = cluster.nodes.count(), n = cluster.nodes.smallest();  // the lanes that all nodes have
  std::int64_t board = best_board_factor(cluster.nodes);
  Maker::Folded folded = maker.fold(board);
  for (std::int64_t tried = 2; !boards_in_step(cluster.nodes) && tried <= n; tried += 1 + tried / 2) {
    if (cluster.nodes.publish + (tried - 1) * cluster.nodes.read >= folded.end()) break;
    Maker::Folded node = maker.fold(tried);
    if (folded.end() <= node.end()) continue;
    folded = std::move(node);
    board = tried;
  }
  Day best;
  std::string how;
  Time limit{kMaxTime};
  const std::int64_t most_radix =
      std::clamp<std::int64_t>(cluster.nodes.uniform() ? 4 * n : 4 * n + 4, 2, std::max<std::int64_t>(N, 2));
  // Without groups first: what is then known keeps most others from being made.
  for (std::int64_t group = 1; group <= std::min(kMostFolded, n / 2 + 1); ++group) {
    for (std::int64_t radix = 2; radix <= std::min(most_radix, kMostRadix); radix += 1 + radix / 8) {
      const std::int64_t most_lanes = std::min(n, radix - 1);
      for (std::int64_t lanes = 1;; lanes = std::min(2 * lanes, most_lanes)) {
        const bool possible = group == 1 || 2 * group <= lanes;
        if (std::optional<Day> day = possible ? maker.make(folded, radix, lanes, group, limit) : std::nullopt) {
          best = std::move(*day);
          limit = best.finish;
          how = fmt::format("boards of radix {}, then windows of nodes of radix {}, all in step", board, radix);
          if (group > 1) how += fmt::format(", {} lanes fold as one", group);
        }
        if (lanes == most_lanes) break;
      }
    }
  }
  const Claim claim{best.finish, bound.time, bound.source, how};
  return std::make_shared<ScanInStep>(cluster, problem, claim, board, std::move(best));
}

}  // namespace chasqui::plan
