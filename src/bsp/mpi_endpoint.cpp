// SPDX-License-Identifier: MIT
#include "bsp/mpi_endpoint.hpp"

#include <sched.h>
#include <unistd.h>

#include <limits>

namespace chasqui::bsp::detail {

namespace {

constexpr int kTag = 1;
constexpr std::int64_t kPatience = 50'000'000;  ///< nanoseconds rank 0 waits before it asks around
constexpr std::size_t kMostBytes = static_cast<std::size_t>(std::numeric_limits<int>::max()) - 4096;

}  // namespace

MpiEndpoint::MpiEndpoint(MPI_Comm communicator, const Options& options) : options_(options) {
  MPI_Comm_dup(communicator, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  out_.resize(static_cast<std::size_t>(size_));
  statuses_.resize(static_cast<std::size_t>(size_));
}

MpiEndpoint::~MpiEndpoint() {
  while (arrived_blocks_ != nullptr) delete std::exchange(arrived_blocks_, arrived_blocks_->next);
  for (Flying& one : flying_) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm_);
}

void MpiEndpoint::throw_if_aborted() const {
  if (aborted_) throw MachineError(fault_, fault_text_);
}

void MpiEndpoint::post(std::int32_t to, BlockPtr block) {
  throw_if_aborted();
  if (to == rank_ && block->channel.lane == Lane::ledger) {
    ledgers_.push_back(std::move(block));
    return;
  }
  if (to == rank_) {
    block->next = arrived_blocks_;
    arrived_blocks_ = block.release();
    return;
  }
  Buffer& out = out_[static_cast<std::size_t>(to)];
  if (block->payload.size() > kMostBytes) {
    throw MachineError(Fault::resources,
                       fmt::format("rank {} sends {} bytes at once to rank {}: at most {} over MPI; split them", rank_,
                                   block->payload.size(), to, kMostBytes));
  }
  if (out.size() + block->payload.size() > kMostBytes) flush(to);
  RecordHead head;
  head.record = Record::block;
  head.from = block->from;
  head.channel = block->channel;
  head.index = block->index;
  head.messages = block->messages;
  head.kinds = block->kinds;
  head.information = block->information;
  append(out, head, block->payload.view());
  if (out.size() >= static_cast<std::size_t>(64 * 1024)) flush(to);
}

void MpiEndpoint::flush(std::int32_t to) {
  Buffer& out = out_[static_cast<std::size_t>(to)];
  if (out.empty()) return;
  flying_.emplace_back();
  flying_.back().bytes = std::move(out);
  out = Buffer();
  ++sent_;
  MPI_Isend(flying_.back().bytes.data(), static_cast<int>(flying_.back().bytes.size()), MPI_BYTE, to, kTag, comm_,
            &flying_.back().request);
}

void MpiEndpoint::flush_all() {
  for (std::int32_t to = 0; to < size_; ++to) flush(to);
}

void MpiEndpoint::send_control(std::int32_t to, const RecordHead& head, std::span<const std::byte> bytes) {
  flush(to);
  append(out_[static_cast<std::size_t>(to)], head, bytes);
  flush(to);
  --sent_;  // only messages of the program count
}

void MpiEndpoint::reap() {
  while (!flying_.empty()) {
    int done = 0;
    MPI_Test(&flying_.front().request, &done, MPI_STATUS_IGNORE);
    if (done == 0) return;
    flying_.pop_front();
  }
}

bool MpiEndpoint::progress() {
  int there = 0;
  MPI_Message message;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, kTag, comm_, &there, &message, &status);
  if (there == 0) return false;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  Buffer buffer;
  buffer.extend(static_cast<std::size_t>(bytes));
  MPI_Mrecv(buffer.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  receive(buffer.view());
  return true;
}

void MpiEndpoint::receive(std::span<const std::byte> message) {
  bool of_program = false;
  for_each_record(message, [&](const RecordHead& head, std::span<const std::byte> bytes) {
    switch (head.record) {
      case Record::block: {
        auto block = std::make_unique<Block>();
        block->channel = head.channel;
        block->from = head.from;
        block->index = head.index;
        block->messages = head.messages;
        block->kinds = head.kinds;
        block->information = head.information;
        if (!bytes.empty()) std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
        of_program = true;
        if (block->channel.lane == Lane::ledger) {  // not for the program, which may still be running here
          ledgers_.push_back(std::move(block));
          break;
        }
        block->next = arrived_blocks_;
        arrived_blocks_ = block.release();
        break;
      }
      case Record::arrival: {
        Arrived arrived{head.channel.step, head.messages, std::vector<Row>(bytes.size() / sizeof(Row))};
        if (!bytes.empty()) std::memcpy(arrived.rows.data(), bytes.data(), bytes.size());
        arrivals_[head.channel.group][head.from].push_back(std::move(arrived));
        of_program = true;
        break;
      }
      case Record::probe: probe_ = head.index; break;
      case Record::status: {
        if (head.index != wave_) break;
        Status status{head.blocked != 0, head.information, head.received, {}, {}};
        std::memcpy(&status.why, bytes.data(), sizeof status.why);
        status.where.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof status.why,
                            bytes.size() - sizeof status.why);
        statuses_[static_cast<std::size_t>(head.from)] = std::move(status);
        break;
      }
      case Record::abort:
        if (!aborted_) {
          aborted_ = true;
          fault_ = static_cast<Fault>(head.index);
          fault_text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        }
        break;
      case Record::goodbye: ++goodbyes_; break;
    }
  });
  if (of_program) ++received_;
}

Block* MpiEndpoint::take() {
  while (progress()) {
  }
  return std::exchange(arrived_blocks_, nullptr);
}

template <typename Condition>
void MpiEndpoint::wait_until(const Waiting& why, const Condition& condition) {
  const std::int64_t begin = clock_nanoseconds();
  std::int64_t look_at = begin + kPatience;
  for (std::uint64_t idle = 0;;) {
    throw_if_aborted();
    if (condition()) return;
    if (progress()) {
      idle = 0;
      continue;
    }
    reap();
    if (probe_) answer_probe(why);
    ++idle;
    if (idle > 64) sched_yield();
    if (idle > 20000) usleep(50);
    if (rank_ == 0 && size_ > 1 && idle % 64 == 0 && clock_nanoseconds() > look_at) {
      look_for_deadlock(why);
      look_at = clock_nanoseconds() + kPatience / 10;
    }
  }
}

void MpiEndpoint::await(const Waiting& why) {
  flush_all();
  wait_until(why, [&] { return arrived_blocks_ != nullptr; });
}

GroupPtr MpiEndpoint::open(const GroupInfo& info) {
  auto group = std::make_shared<MpiGroup>();
  group->info = info;
  group->released_at = clock_nanoseconds();
  speaker_[info.id] = info.members.at(0);
  account(info);
  return group;
}

MachineCosts& MpiEndpoint::account(const GroupInfo& info) {
  MachineCosts& costs = accounts_[info.id];
  costs.id = info.id, costs.parent = info.parent, costs.split = info.split, costs.size = info.members.count;
  return costs;
}

std::uint32_t MpiEndpoint::barrier(GroupState& state, const Arrival& arrival, const Waiting& why) {
  throw_if_aborted();
  auto& group = static_cast<MpiGroup&>(state);
  const Members& members = group.info.members;
  RecordHead head;
  head.record = Record::arrival;
  head.from = arrival.member;
  head.channel.group = group.info.id;
  head.channel.step = arrival.step;
  head.messages = arrival.flags;
  const auto rows = std::as_bytes(arrival.rows);
  for (std::int32_t i = 1; i < members.count; ++i) {  // start at the next member: nobody is everybody's first
    const std::int32_t to = members.at((arrival.member + i) % members.count);
    append(out_[static_cast<std::size_t>(to)], head, rows);
    flush(to);
  }
  flush_all();
  auto& arrivals = arrivals_[group.info.id];
  wait_until(why, [&] {
    for (std::int32_t member = 0; member < members.count; ++member) {
      if (member != arrival.member && arrivals[member].empty()) return false;
    }
    return true;
  });
  MachineCosts& costs = account(group.info);
  std::uint32_t flags = arrival.flags;
  for (const Row& row : arrival.rows) merge(costs, row, options_.per_processor_costs);
  for (std::int32_t member = 0; member < members.count; ++member) {
    if (member == arrival.member) continue;
    const Arrived arrived = std::move(arrivals[member].front());
    arrivals[member].pop_front();
    flags |= arrived.flags;
    for (const Row& row : arrived.rows) merge(costs, row, options_.per_processor_costs);
    if (arrived.step != arrival.step) {
      throw MachineError(
          Fault::sync_mismatch,
          fmt::format("rank {} comes to the sync of superstep {}, rank {} to that of superstep {}: every "
                      "superstep must end with the same kind of sync everywhere",
                      rank_, arrival.step, members.at(member), arrived.step));
    }
  }
  if (costs.supersteps.size() <= arrival.step) costs.supersteps.resize(arrival.step + 1);
  const std::int64_t now = clock_nanoseconds();
  costs.supersteps[arrival.step].span_nanoseconds += now - group.released_at;
  group.released_at = now;
  reap();
  return flags;
}

}  // namespace chasqui::bsp::detail
