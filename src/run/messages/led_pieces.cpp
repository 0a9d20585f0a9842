// SPDX-License-Identifier: MIT
#include "run/messages/led_pieces.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

#include "chasqui/base/error.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::run {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// What happens at a time to something that has a number.
using Event = std::pair<double, int>;
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

double next_of(const Events& events) { return events.empty() ? kNever : events.top().first; }

/// The messages of a node: they share its adapter fairly, or queue for their rank's port and for the adapter.
class NodeLink {
 public:
  NodeLink(const LedCosts& costs, int ranks)
      : level_(costs.network), adapter_(costs.adapter), ports_(static_cast<std::size_t>(ranks), 0.0) {}

  /// Returns when the sender can go on. Messages are counted from 0.
  double send(int rank, double clock, double bytes) {
    const auto number = static_cast<int>(arrived_.size());
    arrived_.push_back(false);
    if (level_.shares_bandwidth) {
      const double start = clock + flight_time(level_, bytes) - level_.o_r.value - level_.G.value * bytes;
      messages_.push_back({std::max(1e-6, adapter_ * bytes), start + level_.G.value * bytes});
      starts_.emplace(start, number);
      return clock + std::max(level_.g.value, level_.o_s.value);
    }
    double& port = ports_[static_cast<std::size_t>(rank)];
    const double begin = std::max({clock, port, free_});
    port = begin + crowded_port_time(level_, bytes);
    free_ = begin + adapter_ * bytes;
    arrivals_.emplace(begin + flight_time(level_, bytes) - level_.o_r.value, number);
    return begin + level_.o_s.value;
  }
  bool arrived(int message) const { return arrived_[static_cast<std::size_t>(message)]; }
  int sent() const { return static_cast<int>(arrived_.size()); }

  /// When something changes if nothing more is sent.
  double next() const { return std::min({next_of(starts_), next_of(arrivals_), next_end()}); }

  void advance(double time) {
    for (double when = next(); when <= time; when = next()) {
      if (next_of(arrivals_) <= when) {
        arrived_[static_cast<std::size_t>(arrivals_.top().second)] = true;
        arrivals_.pop();
      } else if (next_end() <= when) {
        const auto [end, number] = sharing_.top();
        sharing_.pop();
        served_ = end;
        now_ = when;
        arrivals_.emplace(std::max(when, messages_[static_cast<std::size_t>(number)].earliest), number);
      } else {
        serve_until(when);
        const int number = starts_.top().second;
        starts_.pop();
        sharing_.emplace(served_ + messages_[static_cast<std::size_t>(number)].length, number);
      }
    }
  }

 private:
  struct Message {
    double length, earliest;  ///< of the adapter's time; when it can be there
  };
  /// Each message that shares the link has been served alike since it joined, so it ends when `served_` reaches its end.
  double next_end() const {
    if (sharing_.empty()) return kNever;
    return now_ + (sharing_.top().first - served_) * static_cast<double>(sharing_.size());
  }
  void serve_until(double time) {
    if (!sharing_.empty()) served_ += (time - now_) / static_cast<double>(sharing_.size());
    now_ = time;
  }

  const Level& level_;
  double adapter_;
  std::vector<double> ports_;  ///< when a rank can send again
  double free_ = 0;            ///< when the adapter can
  std::vector<Message> messages_;
  std::vector<bool> arrived_;
  Events starts_, sharing_, arrivals_;  ///< sharing_: by what it has been served then
  double now_ = 0, served_ = 0;
};

/// Bytes of the messages of an all-reduce by exchange, round by round: there, and back.
std::vector<std::vector<double>> exchange_rounds(std::int64_t nodes, int radix, double bytes) {
  std::vector<std::vector<double>> back;
  for (const Send& send : circulant(nodes, 0, radix).form.sends) {
    if (send.begin.ticks == static_cast<std::int64_t>(back.size())) back.emplace_back();
    back.back().push_back(bytes * static_cast<double>(send.part.len) / static_cast<double>(nodes));
  }
  std::vector<std::vector<double>> rounds(back.rbegin(), back.rend());
  rounds.insert(rounds.end(), back.begin(), back.end());
  return rounds;
}

/// Plays one node, whose ranks receive what they send when they have sent it.
class LedNode {
 public:
  LedNode(const LedPieces& pieces, const LedCosts& costs)
      : pieces_(pieces), costs_(costs), rounds_(exchange_rounds(costs.nodes, pieces.radix, costs.bytes)),
        states_(static_cast<std::size_t>(pieces.count)),
        ranks_(static_cast<std::size_t>(pieces.leaders + (costs.more_ranks ? 1 : 0))),
        link_(costs, static_cast<int>(ranks_.size())) {
    for (int time = 0; time < pieces.count + pieces.lag; ++time) {
      if (time < pieces.count) board_.push_back({time, false});
      if (time >= pieces.lag) board_.push_back({time - pieces.lag, true});
    }
  }

  LedTimetable played() {
    double now = 0;
    for (std::size_t left = ranks_.size(); left > 0;) {
      link_.advance(now);
      for (; next_of(done_) <= now; done_.pop()) mark(done_.top().second);
      bool moved = false;
      double next = std::min(link_.next(), next_of(done_));
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        Rank& rank = ranks_[r];
        if (rank.next == board_.size()) continue;
        if (rank.clock <= now && act(static_cast<int>(r), now)) {
          moved = true;
          if (rank.next == board_.size()) --left;
        }
        if (rank.clock > now) next = std::min(next, rank.clock);
      }
      if (moved) continue;
      CHASQUI_CHECK(next < kNever, "{} pieces of which none goes on", pieces_.count);
      now = next;
    }
    LedTimetable timetable;
    for (Rank& rank : ranks_) {
      timetable.nanoseconds = std::max(timetable.nanoseconds, rank.clock);
      timetable.order.push_back(std::move(rank.order));
    }
    return timetable;
  }

 private:
  struct OnBoard {
    int piece;
    bool out;  ///< it is handed out; otherwise it is folded
  };
  struct State {
    std::size_t brought = 0;  ///< by ranks that do not lead it
    std::size_t round = 0;    ///< of messages
    int first = 0;            ///< message that has not been taken
    int end = 0;              ///< behind the last that was sent
    bool handed_out = false;
  };
  struct Rank {
    double clock = 0;
    std::size_t next = 0;  ///< on the board
    int folded = 0;        ///< pieces that it leads and has folded
    int handed_out = 0;    ///< of them
    std::vector<int> order{};
  };

  State& state(int piece) { return states_[static_cast<std::size_t>(piece)]; }
  bool leads(int rank, int piece) const { return piece % pieces_.leaders == rank; }
  void mark(int event) {
    State& each = state(event / 2);
    if (event % 2 == 0) ++each.brought;
    else each.handed_out = true;
  }

  void send_round(int rank, State& piece) {
    piece.first = link_.sent();
    for (const double bytes : rounds_[piece.round])
      ranks_[static_cast<std::size_t>(rank)].clock =
          link_.send(rank, ranks_[static_cast<std::size_t>(rank)].clock, bytes);
    piece.end = link_.sent();
  }

  /// One step of a rank, if it can go on.
  bool act(int r, double now) {
    Rank& rank = ranks_[static_cast<std::size_t>(r)];
    for (int i = rank.handed_out; i < rank.folded; ++i) {
      const int piece = r + i * pieces_.leaders;
      State& each = state(piece);
      if (each.first == each.end || !link_.arrived(each.first)) continue;
      rank.clock = now + costs_.network.o_r.value;
      rank.order.push_back(piece);
      if (++each.first == each.end && ++each.round < rounds_.size()) send_round(r, each);
      return true;
    }
    const auto [piece, out] = board_[rank.next];
    State& each = state(piece);
    const bool leader = leads(r, piece);
    if (out ? (leader ? each.round < rounds_.size() : !each.handed_out) : leader && each.brought + 1 < ranks_.size())
      return false;
    rank.clock = now + (out ? costs_.hand_out : costs_.fold) / 2;
    rank.order.push_back(piece);
    ++rank.next;
    if (leader == out) done_.emplace(rank.clock, 2 * piece + (out ? 1 : 0));
    if (!leader) return true;
    if (out) {
      ++rank.handed_out;
    } else {
      ++rank.folded;
      send_round(r, each);
    }
    return true;
  }

  const LedPieces& pieces_;
  const LedCosts& costs_;
  std::vector<std::vector<double>> rounds_;
  std::vector<OnBoard> board_;
  std::vector<State> states_;
  std::vector<Rank> ranks_;
  NodeLink link_;
  Events done_;  ///< twice the piece, one more where it is handed out
};

}  // namespace

LedTimetable led_timetable(const LedPieces& pieces, const LedCosts& costs) { return LedNode(pieces, costs).played(); }

Program led_program(const Shape& shape, const LedPieces& pieces, const LedTimetable& timetable, const Nodes& nodes,
                    const std::vector<int>& ranks) {
  const std::int64_t node = nodes.node_of({shape.rank});
  const auto place = static_cast<int>(shape.rank - nodes.first_rank(node));
  const auto N = static_cast<std::size_t>(nodes.count()), own = static_cast<std::size_t>(node);
  std::vector<PlacedPart> parts;
  for (int i = 0; i < pieces.count; ++i) {
    const int leader = i % pieces.leaders;
    const std::size_t begin = share_begin(shape.count, pieces.count, i);
    const std::size_t count = share_begin(shape.count, pieces.count, i + 1) - begin;
    Program part;
    if (place != leader) {
      part.board({Kind::reduce, leader, 0, kInput, kOutput, count});  // of which it gets nothing
    } else {
      // What is folded lies apart from the result, so that no message has to be waited for before others may come.
      const Address folded = part.more_scratch(count * shape.element);
      std::vector<std::size_t> offsets;
      for (std::size_t block = 0; block <= N; ++block)
        offsets.push_back(share_begin(count, static_cast<int>(N), static_cast<int>(block)) * shape.element);
      const LocalPlan back = circulant(nodes.count(), static_cast<int>(node), pieces.radix);
      LocalPlan there = back;
      there.reversed = true;
      part.board({Kind::reduce, leader, 0, kInput, folded, count});
      add_block_folds(part, there, folded, offsets, shape.element);
      part.copy(kOutput + offsets[own], {folded + offsets[own], offsets[own + 1] - offsets[own]});
      add_blocks(part, back, kOutput, offsets);
    }
    part.board({Kind::broadcast, leader, 0, kOutput, kOutput, count});
    parts.push_back({std::move(part), begin * shape.element});
  }
  const auto peer = [&](int other) { return ranks[static_cast<std::size_t>(nodes.first_rank(other) + place)]; };
  const auto& order = timetable.order[std::min(static_cast<std::size_t>(place), timetable.order.size() - 1)];
  Program program = interleaved(parts, order, peer);
  program.finish();
  return program;
}

}  // namespace chasqui::run
