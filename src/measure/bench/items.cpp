// SPDX-License-Identifier: MIT
// Several items, and streams of them, along their plans against one broadcast after another and a chain.
#include <algorithm>
#include <memory>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/run/choose.hpp"
#include "measure/bench/contest.hpp"
#include "measure/record/recording.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/comm/fabric.hpp"
#include "run/messages/builders.hpp"
#include "run/messages/player.hpp"
#include "run/messages/sized_machine.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr std::int64_t kItems = 8;
constexpr double kSlack =
    1.1;  ///< items of a stream follow each other this much slower than they could when delays are looked at
constexpr std::size_t kStreamed = std::size_t{4}
                                  << 20;  ///< bytes of the stream's items together, if that makes enough of them

/// The items from rank to rank.
LocalPlan chain(int ranks, int rank, std::int64_t items) {
  LocalPlan local;
  local.machine = LogP::postal(ranks, Time{1});
  local.form.rank = {rank};
  for (std::int32_t i = 0; i < items; ++i) {
    if (rank > 0) local.form.receives.push_back({Time{rank - 1 + i}, {rank - 1}, {rank}, {i, 1}});
    if (rank + 1 < ranks) local.form.sends.push_back({Time{rank + i}, {rank}, {rank + 1}, {i, 1}});
  }
  return local;
}

/// Items in one buffer, from rank 0 to all.
class Several {
 public:
  Several(Comm& comm, std::int64_t items, std::size_t bytes)
      : comm_(comm), items_(items), data_(bytes / sizeof(double)) {}

  Comm& comm() const { return comm_; }
  double count() const { return static_cast<double>(items_); }

  /// Before and after a way was tried: does everybody get what rank 0 has?
  void fill() {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = comm_.rank() == 0 ? static_cast<double>(i + 1) : 0;
  }
  void check(const std::string& who) const {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      if (data_[i] != static_cast<double>(i + 1))
        throw Error("{}: rank {} has {} at place {}, not {}: please report this", who, comm_.rank(), data_[i], i,
                    i + 1);
    }
  }

  std::shared_ptr<const Program> program_of(const LocalPlan& plan) const {
    Program program;
    add_items(program, plan, {data_.size(), sizeof(double), items_}, {Memory::output, 0});
    program.finish();
    return std::make_shared<const Program>(in_pieces(std::move(program), fabric_of(comm_).piece));
  }
  /// All of them.
  void play(const std::shared_ptr<const Program>& program, Transport* over = nullptr) {
    launch(comm_, [&](Group group) {
      if (over != nullptr) group.transport = over;
      return run::play(std::move(group), program, {nullptr, data_.data()}, {});
    }).wait();
  }

  /// One.
  Call call_of(std::int64_t item) {
    const auto begin = [&](std::int64_t i) {
      return share_begin(data_.size(), static_cast<int>(items_), static_cast<int>(i));
    };
    return {.kind = Kind::broadcast,
            .out = data_.data() + begin(item),
            .count = static_cast<std::int64_t>(begin(item + 1) - begin(item)),
            .element = sizeof(double)};
  }

  /// The median time from when rank 0 began with an item until the last rank had it. Collective; right on rank 0.
  double delay(std::vector<double> begins, std::vector<double> ends) const {
    std::vector<double> last(ends.size());
    comm_.allreduce(std::span<const double>(ends), std::span<double>(last), Maximum{});
    for (std::size_t i = 0; i < last.size(); ++i) last[i] -= begins[i];
    std::nth_element(last.begin(), last.begin() + std::ssize(last) / 2, last.end());
    return last[last.size() / 2];
  }

  /// The same of a plan, by what its messages did; a new item every `period` nanoseconds, that none wait in a queue.
  double delay_of(LocalPlan plan, double period, CommonStart& start) {
    plan.pace = {comm_.rank() == 0 ? period : 0, 0, Time{items_}};
    RecordingTransport recorder({std::shared_ptr<void>(), fabric_of(comm_).messages.get()});
    const auto program = program_of(plan);
    start.once([&] { play(program, &recorder); });
    std::vector<double> begins(static_cast<std::size_t>(items_)), ends(begins.size());
    const auto steps = steps_of(plan);
    struct Place {
      std::size_t at = 0;     ///< step
      std::size_t bytes = 0;  ///< pieces of its message so far
    } sent, received;         // the recorder has either kind in the order of the steps
    for (const RecordedEvent& event : recorder.take()) {
      Place& place = event.sends ? sent : received;
      while (steps[place.at].receives == event.sends) ++place.at;
      const auto item = static_cast<std::size_t>(steps[place.at].part.lo);
      place.bytes += event.bytes;
      if (place.bytes >= call_of(steps[place.at].part.lo).bytes()) ++place.at, place.bytes = 0;
      if (event.sends && begins[item] == 0) begins[item] = static_cast<double>(event.begin) - start.ahead();
      if (!event.sends) ends[item] = static_cast<double>(event.end) - start.ahead();
    }
    return delay(std::move(begins), std::move(ends));
  }

  double delay_of(const std::function<bool(const Call&)>& run, CommonStart& start) {
    std::vector<double> begins(static_cast<std::size_t>(items_)), ends(begins.size());
    start.once([&] {
      for (std::int64_t i = 0; i < items_; ++i) {
        begins[static_cast<std::size_t>(i)] = start.now();
        run(call_of(i));
        ends[static_cast<std::size_t>(i)] = start.now();
      }
    });
    return delay(std::move(begins), std::move(ends));
  }

 private:
  Comm& comm_;
  std::int64_t items_;
  std::vector<double> data_;
};

/// What contests of items share.
Contest contest_of_plan(const std::shared_ptr<Several>& items, const LocalPlan& plan, bool stream) {
  const auto along = [items, stream](const LocalPlan& local, const std::string& who) -> Contest::Sample {
    const auto program = items->program_of(local);
    items->fill();
    items->play(program);
    items->check(who);
    return [=](CommonStart& start) {
      const double span = start.once([&] { items->play(program); });
      const double each = span / items->count();
      return stream ? std::vector<double>{each, items->delay_of(local, kSlack * each, start)}
                    : std::vector<double>{span};
    };
  };
  const auto in_turn = [items, stream](const std::function<bool(const Call&)>& run,
                                       const std::string& who) -> Contest::Sample {
    const auto all = [=] {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(items->count()); ++i) {
        if (!run(items->call_of(i))) return false;
      }
      return true;
    };
    items->fill();
    if (!all()) return {};
    items->check(who);
    return [=](CommonStart& start) {
      const double span = start.once(all);
      return stream ? std::vector<double>{span / items->count(), items->delay_of(run, start)}
                    : std::vector<double>{span};
    };
  };
  Comm& comm = items->comm();
  Contest contest;
  contest.ours = along(plan, "the plan's items");
  contest.against = [in_turn](const Rival& rival) { return in_turn(rival.run, rival.name); };
  contest.further.emplace_back(
      "chain", along(chain(comm.size(), comm.rank(), static_cast<std::int64_t>(items->count())), "chain"));
  contest.further.emplace_back("plain", in_turn([&comm](const Call& call) { return comm.run(call), true; }, "plain"));
  return contest;
}

}  // namespace

Contest contest_of_items(Comm& comm, std::size_t bytes) {
  const Level& level = message_level(comm.topology(), comm.profile());
  const double item = static_cast<double>(bytes) / kItems;
  const SizedMachine sized = item_machine(level, comm.size(), item);
  const plan::PlanPtr plan = plan::kitem(sized.machine, kItems, {}, {.quick = true});
  Contest contest = contest_of_plan(std::make_shared<Several>(comm, kItems, bytes),
                                    local_items(*plan, sized, level, item, comm.rank()), false);
  contest.names = {"items"};
  contest.bytes = bytes;
  contest.method = "items";
  contest.predicted = {static_cast<double>(plan->claim().finish.ticks) * sized.tick};
  return contest;
}

Contest contest_of_stream(Comm& comm, std::size_t bytes) {
  const Level& level = message_level(comm.topology(), comm.profile());
  const auto items = static_cast<std::int64_t>(std::clamp<std::size_t>(kStreamed / bytes, 8, 64));
  const auto item = static_cast<double>(bytes);
  const SizedMachine sized = item_machine(level, comm.size(), item);
  const plan::StreamPtr stream = plan::make_stream(comm.size(), sized.machine.L.ticks);
  const plan::PlanPtr plan = plan::stream_window(sized.machine, stream, items);
  const auto all = std::make_shared<Several>(comm, items, bytes * static_cast<std::size_t>(items));
  Contest contest = contest_of_plan(all, local_items(*plan, sized, level, item, comm.rank()), true);
  contest.names = {"stream", "delay"};
  contest.bytes = bytes;
  contest.method = "stream";
  const double finish = static_cast<double>(plan->claim().finish.ticks) * sized.tick;
  contest.predicted = {finish / static_cast<double>(items), static_cast<double>(stream->delay().ticks) * sized.tick};
  return contest;
}

}  // namespace chasqui::measure
