// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "chasqui/tune/rounds.hpp"
#include "run/messages/message_cost.hpp"

namespace chasqui::tune {
namespace {

/// What a rank has done so far.
struct Processor {
  double free = 0;                 ///< its part so far has ended
  double next_send = 0;            ///< its send port is free
  double last_reception = -1e300;  ///< began then: bytes of the next message come in after it
};

constexpr double kFold = 0.25;  ///< nanoseconds a byte: doubles, added from memory by one core of ours

}  // namespace

Network network_of(const LogGP& machine) {
  const auto further = [G = static_cast<double>(machine.G_ticks), bytes = static_cast<double>(machine.G_bytes)](
                           double size) { return std::ceil(std::max(0.0, size - 1) * G / bytes); };
  const auto o = static_cast<double>(machine.base.o.ticks), L = static_cast<double>(machine.base.L.ticks),
             gap = static_cast<double>(machine.base.gap().ticks);
  const auto port = [=](double size) { return gap + further(size); };
  return {o, o, 0, [=](double size) { return L + further(size); }, port, port};
}

Network network_of(const Level& level, const Profile& profile, bool everybody) {
  const Level seen = everybody ? run::with_everybody_sending(level, profile, run::Senders::all(level)) : level;
  const double o_s = seen.o_s.value, o_r = seen.o_r.value;
  // A library asks before it sends a long message, and waits for the answer. Our own transport may cut the message instead, but
  // that is not what is predicted here.
  const auto eager = static_cast<double>(run::eager_bytes(seen));
  const double asking = 2 * (seen.L.value + o_s + o_r);
  return {o_s,
          o_r,
          kFold,
          [=](double size) { return seen.L.value + seen.G.value * size + (size > eager ? asking : 0); },
          [=](double size) { return run::port_time(seen, size); },
          [=](double size) { return run::receive_port_time(seen, size); }};
}

namespace {

/// Plays one round after another.
class Player {
 public:
  Player(int ranks, const Network& network) : network_(network), ranks_(static_cast<std::size_t>(ranks)) {}

  void play(const Round& round) {
    sent_.assign(round.size(), 0);
    arrivals_.assign(round.size(), 0);
    std::vector<std::int32_t>& senders = scratch_;
    senders.clear();
    for (const Message& message : round) senders.push_back(message.from);
    std::sort(senders.begin(), senders.end());
    if (std::adjacent_find(senders.begin(), senders.end()) == senders.end()) return in_two_steps(round);
    as_it_comes(round);
  }

  double finish() const { return finish_; }
  const std::vector<double>& sent() const { return sent_; }

 private:
  Processor& of(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  double send_time(const Message& message) { return std::max(of(message.from).free, of(message.from).next_send); }
  double reception_time(const Message& message, double arrival) {
    const Processor& receiver = of(message.to);
    return std::max({arrival, receiver.free, receiver.last_reception + network_.receive(message.bytes)});
  }
  void send(const Message& message, std::size_t i) {
    Processor& sender = of(message.from);
    sent_[i] = send_time(message);
    sender.free = sent_[i] + network_.o_s;
    sender.next_send = sent_[i] + network_.send(message.bytes);
    arrivals_[i] = sender.free + network_.latency(message.bytes);
  }
  void receive(const Message& message, std::size_t i) {
    Processor& receiver = of(message.to);
    const double begin = reception_time(message, arrivals_[i]);
    receiver.last_reception = begin;
    receiver.free = begin + network_.o_r + (message.folds ? network_.fold * message.bytes : 0);
    finish_ = std::max(finish_, receiver.free);
  }

  /// Nobody sends twice.
  void in_two_steps(const Round& round) {
    for (std::size_t i = 0; i < round.size(); ++i) send(round[i], i);
    std::vector<std::size_t> order(round.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return arrivals_[a] < arrivals_[b]; });
    for (const std::size_t i : order) receive(round[i], i);
  }

  /// The earliest event of all ranks next; a rank that could do both sends.
  void as_it_comes(const Round& round) {
    struct Event {
      double time;
      bool reception;
      std::size_t message;
      bool operator>(const Event& other) const {
        return std::tie(time, reception, message) > std::tie(other.time, other.reception, other.message);
      }
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<std::vector<std::size_t>> sends(ranks_.size());  // of each rank, the next one last
    for (std::size_t i = round.size(); i-- > 0;) sends[static_cast<std::size_t>(round[i].from)].push_back(i);
    for (const auto& own : sends) {
      if (!own.empty()) events.push({send_time(round[own.back()]), false, own.back()});
    }
    while (!events.empty()) {
      const Event event = events.top();
      events.pop();
      const Message& message = round[event.message];
      const double now = event.reception ? reception_time(message, arrivals_[event.message]) : send_time(message);
      if (now > event.time) {  // its rank did something else meanwhile
        events.push({now, event.reception, event.message});
        continue;
      }
      if (event.reception) {
        receive(message, event.message);
        continue;
      }
      send(message, event.message);
      events.push({arrivals_[event.message], true, event.message});
      auto& own = sends[static_cast<std::size_t>(message.from)];
      own.pop_back();
      if (!own.empty()) events.push({send_time(round[own.back()]), false, own.back()});
    }
  }

  const Network& network_;
  std::vector<Processor> ranks_;
  std::vector<double> sent_, arrivals_;
  std::vector<std::int32_t> scratch_;
  double finish_ = 0;
};

}  // namespace

double play(const Rounds& rounds, const Network& network, std::vector<std::vector<double>>* begins) {
  Player player(rounds.ranks, network);
  for (const Round& round : rounds.list) {
    player.play(round);
    if (begins != nullptr) begins->push_back(player.sent());
  }
  return player.finish();
}

double predict(const Rounds& rounds, const Profile& profile) {
  CHASQUI_CHECK(!profile.levels.empty(), "a profile without levels");
  const Level* network = profile.level("network");
  std::size_t messages = 0;
  for (const Round& round : rounds.list) messages += round.size();
  const bool everybody = 2 * messages > rounds.list.size() * static_cast<std::size_t>(rounds.ranks);
  return play(rounds, network_of(network != nullptr ? *network : profile.levels.back(), profile, everybody));
}

}  // namespace chasqui::tune
