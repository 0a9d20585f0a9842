// SPDX-License-Identifier: MIT
#include "run/faults/health.hpp"

#include <exception>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

constexpr std::uint64_t kForever = ~std::uint64_t{0} >> 1;
constexpr unsigned kBetweenComparisons = 16;  ///< looks, until the calls on the node are compared again

}  // namespace

void Health::throw_unusable() const { throw Error("this communicator failed before: {}", why_); }

void Health::refuse(std::uint64_t number, const std::string& why) {
  refused_.push_back(number);
  if (channels_.node != nullptr) channels_.node->refuse(number, why);
  if (channels_.messages != nullptr && !channels_.node_has_all) {
    channels_.messages->refuse(number, fmt::format("rank {}: {}", rank_, why));
  }
  throw Error("{}", why);
}

void Health::report(std::uint64_t first, const std::string& why) {
  if (size_ == 1) return;
  if (channels_.node != nullptr) channels_.node->report(first, kForever, why);
  if (channels_.messages != nullptr && !channels_.node_has_all) channels_.messages->report(first, kForever, why);
}

void Health::fail(std::uint64_t number) {
  try {
    throw;
  } catch (const std::exception& error) {
    why_ = error.what();
  } catch (...) {
    why_ = "an operator threw something that is no std::exception";
  }
  last_error_here() = why_;
  report(number, fmt::format("rank {}: {}", rank_, why_));
}

void Health::leave(const std::string& why) {
  unusable(why);
  report(number_, fmt::format("rank {} left: {}", rank_, why));
}

void Health::rest() {
  if (channels_.departures != nullptr) channels_.departures->leave(rank_, number_);
}

void Health::resume() {
  if (channels_.departures != nullptr) channels_.departures->back(rank_);
}

void Health::throw_failure(FaultChannel& channel, std::uint64_t number) {
  if (!channel.failed(number, refused_)) return;
  earlier_ = number > 1 && channel.failed(number - 1, refused_);
  throw Error("{}", channel.failure());
}

bool Health::look(std::uint64_t number) {
  FaultChannel* const node = channels_.node;
  FaultChannel* const messages = channels_.messages;
  // Asked first and said last: why a rank has left is a better answer than that it has.
  const bool alone = channels_.departures != nullptr && channels_.departures->concerns(number);
  if (node != nullptr) throw_failure(*node, number);
  if (node != nullptr && (alone || ++looks_ % kBetweenComparisons == 0)) {
    std::uint64_t seen = number;
    try {
      node->compare_calls(seen);
    } catch (...) {
      earlier_ = channels_.node_has_all && seen < number;
      throw;
    }
  }
  if (messages != nullptr && !channels_.node_has_all) throw_failure(*messages, number);
  if (alone) channels_.departures->fail(number);
  if (limit_ > 0 && gossip_.waited() > limit_) {
    throw Error("call {} has waited {} s in which nothing moved, as long as it may: a rank is late, or will not come",
                number, limit_);
  }
  if (messages == nullptr) return false;
  if (!gossip_.due()) return false;
  // Nothing moves, and another call failed: whoever this one waits for may have left.
  if (!usable()) throw Error("{}", why_);
  if (node != nullptr && node->broken()) throw Error("{}", node->failure());
  if (messages->broken()) throw Error("{}", messages->failure());
  return true;
}

/// Everybody hears of it: those who wait in that call, too, when this rank has got further.
std::string Health::compare(const CallHistory& calls, std::uint64_t last, const std::vector<std::uint64_t>& waiting,
                            bool leaves) {
  const auto found = gossip_.look(*channels_.messages, calls, last, waiting, leaves);
  if (!found) return {};
  report(found->number, fmt::format("rank {}: {}", rank_, found->what));
  return found->what;
}

}  // namespace chasqui::run
