// SPDX-License-Identifier: MIT
// One comparison of the two sides of a race, the MPI library's collective and ours, as the program feels them: by periods, from the
// start of a call to the start of the next one of the same race. A duration would charge a side with the waiting for ranks
// that are late, and with what the other side left behind. A state machine without clocks or messages of its own:
//
// 1. Calls come in blocks of one side: a pair A B, then quadruples A B B A of growing length, so that drift hits both alike. The
//    first call of a block meets what the other side left behind, and is not counted.
// 2. After the pair and after each quadruple all ranks take the maximum of their numbers(), and decide by that and the number of
//    calls alone: all alike. A rank adds up its periods over a quadruple first: one that runs ahead (the root of a broadcast, the
//    leaves of a reduction) moves time from one block to the next, and over A B B A most of that cancels.
// 3. A quadruple counts by how well its blocks of the same side agree, so one interrupted block takes the weight from its
//    quadruple. It ends when it is clear on which side of the margin the difference is, or that does not matter, or has cost enough.
// 4. Where the periods show no clear difference, because there is none or because computing between the calls varies by more,
//    durations decide: what the last rank to arrive needs where all wait for all, else the lower quartile of each rank.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/compare/gain.hpp"

namespace chasqui::run {

enum class Side : std::uint8_t { native, ours };
constexpr Side other(Side side) { return side == Side::native ? Side::ours : Side::native; }

/// Of the verdict that there is. Where there is none a pair can be enough for one; it overturns none, and confirms a firm one.
enum class Trust : std::uint8_t { none, doubtful, firm };

/// Calls in a block of the pair (0: no pair), in one of the first quadruple, and how many quadruples, each twice as long.
struct BlockPlan {
  int pair = 2, first = 3, quadruples = 3;
  double margin = 0.01;    ///< the logarithm by which ours must be faster
  double obvious = 0.916;  ///< log 2.5: a pair of which one is so much faster is enough
};

struct Compared {
  Side better = Side::native;
  std::array<double, 2> duration{};  ///< by Side: nanoseconds inside a call, of the slowest rank
  double ratio = 1;                  ///< how many times as long the MPI library's call takes, as it was decided
  Gain gain;                         ///< what a call takes less from the program by ours
  double period = 0;                 ///< nanoseconds from call to call by the better one
  double cost = 0;                   ///< nanoseconds inside all calls made, beyond as many of the better one
  double unseen = 0;      ///< what calls of ours may have cost besides, if there is a margin and it was not reached
  int calls[2] = {0, 0};  ///< made by each side
};

class Comparison {
 public:
  /// incumbent: who serves until now, and begins. meets: does no rank leave the call before all have come?
  Comparison(BlockPlan plan, Side incumbent, Trust trust, bool meets)
      : plan_(plan), incumbent_(incumbent), trust_(trust), meets_(meets) {
    // Later no rank is without memory for what all have agreed on.
    durations_.reserve(
        static_cast<std::size_t>(4 * std::max(plan.pair, plan.first << std::max(0, plan.quadruples - 1))));
    open(plan.pair > 0 ? 0 : 1);
  }

  /// A call of the race begins. `now` is a clock that stands still inside calls that are compared: this race's and others'. Said again of
  /// the same call: what was between is left out.
  void arrive(double now) {
    if (made_ > 0 && !arrived_ && counted(made_ - 1)) {
      const auto number = static_cast<std::size_t>(block_of(made_ - 1));
      double& block = periods_[number];
      const double period = now - last_ + durations_.back();
      if (stage_ == 0) periods_[number + 2] = std::max(periods_[number + 2], period);
      block = stage_ > 0 ? block + period : block == 0 ? period : std::min(block, period);
    }
    last_ = now;
    arrived_ = true;
  }
  /// All calls between two agreements are made; the period of the last one has ended.
  bool due() const { return made_ == length_ * (stage_ == 0 ? 2 : 4); }
  Side turn() const { return side_of(made_); }
  void ran(double duration) {
    if (counted(made_)) durations_.push_back(duration);
    ++result_.calls[static_cast<int>(turn())];
    total_ += duration;
    ++made_;
    arrived_ = false;
  }

  /// What the ranks take the maximum of. REQUIRES due().
  std::vector<double> numbers() const {
    std::vector<double> mine{periods_[0], periods_[1]};
    if (stage_ > 0) mine = {periods_[0] + periods_[3], periods_[1] + periods_[2]};
    for (const Side side : {incumbent_, other(incumbent_)}) {
      const auto list = durations_of(side);
      mine.push_back(stage_ == 0 ? *std::min_element(list.begin(), list.end()) : mean(list));
    }
    mine.push_back(total_);
    if (stage_ == 0) {
      mine.insert(mine.end(), {periods_[2], periods_[3]});
      return mine;
    }
    mine.insert(mine.end(), periods_.begin(), periods_.end());
    if (meets_) {  // of each call the least
      for (const double each : durations_) mine.push_back(-each);
    } else {
      for (const Side side : {incumbent_, other(incumbent_)}) mine.push_back(quartile(durations_of(side)));
    }
    mine.insert(mine.end(), {std::abs(periods_[0] - periods_[3]), std::abs(periods_[1] - periods_[2])});
    return mine;
  }

  /// The same on all ranks. True: the comparison has ended.
  bool agreed(const std::vector<double>& most) {
    const double a = std::max(1.0, most[0]), b = std::max(1.0, most[1]);
    double x = std::log(b / a);
    const double by_duration = std::log(std::max(1.0, most[3]) / std::max(1.0, most[2]));
    last_period_ = stage_ == 0 ? a : a / (2 * std::max(1, length_ - 1));
    const bool ours_first = incumbent_ == Side::ours;
    result_.duration = {most[ours_first ? 3 : 2], most[ours_first ? 2 : 3]};
    most_in_calls_ = most[4];
    look_at_gap(most);
    if (stage_ == 0) {
      const bool clear = std::min(std::abs(x), std::abs(by_duration)) > plan_.obvious && (x > 0) == (by_duration > 0);
      const bool confirmed = trust_ == Trust::firm && std::min(x, by_duration) > std::max(kConfirms, limit());
      if ((clear && (trust_ == Trust::none || x > 0)) || confirmed || plan_.quadruples == 0) return end(x, x);
      return open(1), false;
    }
    double noise = (std::abs(std::log(std::max(1.0, most[5]) / std::max(1.0, most[8]))) +
                    std::abs(std::log(std::max(1.0, most[6]) / std::max(1.0, most[7])))) /
                   2 / 1.128;  // the mean distance of two values of deviation 1
    if (noise > kRough) {      // an interrupted block says nothing: the better one of each side
      x = std::log(std::max(1.0, std::min(most[6], most[7])) / std::max(1.0, std::min(most[5], most[8])));
      noise = kRough;
    }
    const double weight = 1 / (noise * noise + kFloor * kFloor);
    weights_ += weight;
    weighted_ += weight * x;
    const double within = inside(most);
    inside_ += weight * within;
    const double mean = weighted_ / weights_;
    const double error = 1 / std::sqrt(weights_);
    const int wrong = result_.calls[static_cast<int>(mean > limit() ? other(incumbent_) : incumbent_)];
    const bool steady = noise < kRough && (std::abs(mean) < kUnlikely || stage_ > 1);
    const double beyond = std::abs(mean - limit());
    const bool agree = (within > limit()) == (mean > limit());
    const bool trusted = agree || (steady && beyond > 2 * kSure * error);  // few blocks agree by chance, too
    const bool clear = trusted && beyond > kSure * error;
    const bool small = std::abs(mean) + 2 * error < kSmall;
    const bool enough = trusted && beyond > error && wrong * (std::exp(std::abs(mean)) - 1) > kEnough;
    if (!clear && !small && !enough && stage_ < plan_.quadruples) return open(stage_ + 1), false;
    return end(clear ? mean : inside_ / weights_, mean);
  }

  const Compared& result() const { return result_; }
  bool meets() const { return meets_; }

  static constexpr double kUnlikely = 0.916;  ///< log 2.5: a difference that the pair would have seen
  static constexpr double kConfirms = 0.223;  ///< log 1.25: a pair that is so clear confirms a firm verdict
  static constexpr double kFloor = 0.03;      ///< blocks never tell more exactly than that
  static constexpr double kRough = 0.15;      ///< but where they disagree more, one was interrupted
  static constexpr double kSure = 2.5;        ///< standard errors
  static constexpr double kSmall = 0.05;      ///< a difference that does not matter
  static constexpr double kEnough = 10;       ///< calls that a comparison may cost

 private:
  void open(int stage) {
    stage_ = stage;
    length_ = stage == 0 ? plan_.pair : plan_.first << (stage - 1);
    made_ = 0;
    periods_ = {};
    durations_.clear();
  }
  int block_of(int call) const { return call / length_; }
  bool counted(int call) const { return stage_ == 0 || length_ == 1 || call % length_ != 0; }
  Side side_of(int call) const {
    const int block = block_of(call);
    return block == 1 || block == 2 ? other(incumbent_) : incumbent_;
  }
  std::vector<double> durations_of(Side side) const {
    std::vector<double> list;
    std::size_t at = 0;
    for (int call = 0; call < made_; ++call) {
      if (!counted(call)) continue;
      if (side_of(call) == side) list.push_back(durations_[at]);
      ++at;
    }
    return list;
  }
  static double mean(const std::vector<double>& list) {
    double sum = 0;
    for (const double each : list) sum += each;
    return list.empty() ? 0 : sum / static_cast<double>(list.size());
  }
  static double quartile(std::vector<double> list) {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 4);
    std::nth_element(list.begin(), at, list.end());
    return *at;
  }
  /// By durations that no waiting lengthens: the logarithm of the challenger's to the incumbent's.
  double inside(const std::vector<double>& most) const {
    if (!meets_) return std::log(std::max(1.0, most[10]) / std::max(1.0, most[9]));
    double sum[2] = {0, 0};
    std::size_t at = 9;
    for (int call = 0; call < made_; ++call) {
      if (counted(call)) sum[side_of(call) == incumbent_ ? 0 : 1] -= most[at++];
    }
    return std::log(std::max(1.0, sum[1]) / std::max(1.0, sum[0]));
  }
  void look_at_gap(const std::vector<double>& most) {
    if (stage_ == 0) return gap_.pair(most[0], most[5], most[1], most[6]);
    const double calls = std::max(1, length_ - 1);
    gap_.quadruple(most[0] / (2 * calls), most[most.size() - 2] / calls, most[1] / (2 * calls), most.back() / calls,
                   calls);
    std::size_t at = 9;
    for (int call = 0; meets_ && call < made_; ++call) {
      if (counted(call)) gap_.inside(side_of(call) != incumbent_, -most[at++]);
    }
  }
  /// The challenger is taken if the logarithm of its time to the incumbent's is below this.
  double limit() const { return incumbent_ == Side::ours ? plan_.margin : -plan_.margin; }
  /// by: what decides; x: what the periods say. Both of the challenger's to the incumbent's.
  bool end(double by, double x) {
    const bool ours_first = incumbent_ == Side::ours;
    result_.better = by < limit() ? other(incumbent_) : incumbent_;
    result_.ratio = std::exp(ours_first ? by : -by);
    result_.gain = gap_.gap(last_period_);
    if (!ours_first) result_.gain.value = -result_.gain.value;
    result_.period = last_period_ * (result_.better == incumbent_ ? 1 : std::exp(x));
    const double best = result_.duration[static_cast<std::size_t>(result_.better)];
    result_.cost = std::max(0.0, most_in_calls_ - best * (result_.calls[0] + result_.calls[1]));
    if (result_.better == Side::native) result_.unseen = result_.calls[1] * best * std::expm1(plan_.margin);
    return true;
  }

  BlockPlan plan_;
  Side incumbent_;
  Trust trust_;
  bool meets_;
  int stage_ = 0, length_ = 1;       ///< 0: the pair
  int made_ = 0;                     ///< calls of this stage
  double last_ = 0;                  ///< when the last call began
  bool arrived_ = false;             ///< the next one has, too
  std::array<double, 4> periods_{};  ///< of a block; of a pair: the shorter one of each side, then the longer ones
  std::vector<double> durations_;    ///< of the counted calls
  GapSeen gap_;
  double weights_ = 0, weighted_ = 0, inside_ = 0;
  double total_ = 0;          ///< inside all calls
  double most_in_calls_ = 0;  ///< the same, of the rank that was longest there
  double last_period_ = 0;    ///< of a call by the incumbent
  Compared result_;
};

}  // namespace chasqui::run
