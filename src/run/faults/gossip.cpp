// SPDX-License-Identifier: MIT
#include "run/faults/gossip.hpp"

#include <algorithm>
#include <cstdio>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

constexpr double kBetweenLooks = 1e-3;  ///< seconds
constexpr std::int64_t kMostUnanswered = 8;
constexpr std::size_t kMostWaiting = 16;  ///< calls in flight, the oldest, that others are told of
constexpr std::size_t kMostRemembered = 256;

}  // namespace

bool Gossip::Done::has(std::uint64_t number) const {
  return number < below_ || std::binary_search(numbers_.begin(), numbers_.end(), number);
}

void Gossip::Done::add(std::uint64_t number) {
  numbers_.insert(std::upper_bound(numbers_.begin(), numbers_.end(), number), number);
  if (numbers_.size() <= kMostRemembered) return;
  below_ = numbers_.front() + 1;
  numbers_.erase(numbers_.begin());
}

Gossip::Gossip(int rank, int size, Patience patience) : rank_(rank), size_(size), patience_(patience) {}

std::vector<int> Gossip::peers_of(int rank, int size) {
  std::vector<int> peers;
  for (std::int64_t step = 1; step < size; step *= 2) {
    peers.push_back(static_cast<int>((rank + step) % size));
    peers.push_back(static_cast<int>((rank - step + size) % size));
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

double Gossip::waited() {
  const double time = clock_now() * 1e-9;
  if (since_ == 0) {
    since_ = time;
    next_notice_ = patience_.notice;
  }
  return time - since_;
}

bool Gossip::due() {
  const double least = patience_.compare > 0 ? patience_.compare : patience_.notice;
  if (least <= 0 || size_ < 2 || waited() < least) return false;
  const double time = clock_now() * 1e-9;
  if (time - looked_ < kBetweenLooks) return false;
  looked_ = time;
  return true;
}

std::optional<Disagreement> Gossip::look(FaultChannel& channel, const CallHistory& calls, std::uint64_t last,
                                         const std::vector<std::uint64_t>& waiting, bool leaves) {
  if (peers_.empty()) {
    for (const int peer : peers_of(rank_, size_)) peers_.push_back({.rank = peer, .told = {}, .last = {}});
  }
  while (const auto told = channel.hear()) early_.push_back(*told);
  std::vector<Told> heard;
  std::erase_if(early_, [&](const Told& told) { return told.number <= last && (heard.push_back(told), true); });
  for (const Told& told : heard) {
    if (auto found = compare(told, calls)) return found;
  }
  if (leaves && !early_.empty()) {
    const Told& told = early_.front();
    return Disagreement{
        told.number, fmt::format("rank {} waits in {} (call {} of this communicator), and rank {} ends after call {}",
                                 told.from, to_text(told.call), told.number, rank_, last)};
  }
  if (patience_.compare > 0) {
    for (const std::uint64_t number : agreed_) tell(channel, calls, number);
    std::erase_if(agreed_, [&](std::uint64_t number) { return told_everybody(number); });
    for (std::size_t i = 0; i < std::min(waiting.size(), kMostWaiting) && waiting[i] <= last; ++i)
      tell(channel, calls, waiting[i]);
  }
  const double waited = clock_now() * 1e-9 - since_;
  if (patience_.notice > 0 && waited >= next_notice_ && !waiting.empty()) {
    notice(waited, calls, waiting.front());
    next_notice_ = 2 * waited;
  }
  return std::nullopt;
}

std::optional<Disagreement> Gossip::compare(const Told& told, const CallHistory& calls) {
  for (Peer& peer : peers_) {
    if (peer.rank != told.from) continue;
    --peer.unanswered;
    peer.last = told;
  }
  const Signature mine = calls.find(told.number);
  if (!agree(told.call, mine)) {
    return Disagreement{told.number, disagreement(told.from, told.call, rank_, mine,
                                                  fmt::format("call {} of this communicator", told.number))};
  }
  if (std::find(agreed_.begin(), agreed_.end(), told.number) == agreed_.end()) agreed_.push_back(told.number);
  return std::nullopt;
}

void Gossip::tell(FaultChannel& channel, const CallHistory& calls, std::uint64_t number) {
  for (Peer& peer : peers_) {
    if (peer.told.has(number) || peer.unanswered >= kMostUnanswered) continue;
    peer.told.add(number);
    ++peer.unanswered;
    channel.tell(peer.rank, number, calls.find(number));
  }
}

bool Gossip::told_everybody(std::uint64_t number) const {
  return std::all_of(peers_.begin(), peers_.end(), [&](const Peer& peer) { return peer.told.has(number); });
}

void Gossip::notice(double waited, const CallHistory& calls, std::uint64_t number) {
  std::string heard, silent;
  for (const Peer& peer : peers_) {
    if (!peer.last || peer.last->number < number) silent += fmt::format("{}{}", silent.empty() ? "" : ", ", peer.rank);
    else if (peer.last->number == number) heard += fmt::format(" Rank {} waits in it too.", peer.rank);
    else heard += fmt::format(" Rank {} waits in call {}, {}.", peer.rank, peer.last->number, to_text(peer.last->call));
  }
  if (!silent.empty()) heard += fmt::format(" No word from rank {}.", silent);
  const std::string line = fmt::format("chasqui: rank {} has waited {:.0f} s in call {}, {}.{}\n", rank_, waited,
                                       number, to_text(calls.find(number)), heard);
  std::fputs(line.c_str(), stderr);
}

}  // namespace chasqui::run
