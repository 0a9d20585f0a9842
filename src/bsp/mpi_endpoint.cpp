// SPDX-License-Identifier: MIT
#include "bsp/mpi_endpoint.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "bsp/waiting_report.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr int kTag = 1;
constexpr std::uint64_t kFinishGroup = 2;       ///< everybody, after the program
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
  group->books = &accounts_.try_emplace(info.id, Books{info.costs()}).first->second;
  group->books->released_at = clock_nanoseconds();
  speaker_[info.id] = info.members.at(0);
  return group;
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
  std::vector<Arrived> came(static_cast<std::size_t>(members.count));
  std::vector<Arrival> all;
  for (std::int32_t member = 0; member < members.count; ++member) {
    Arrived& one = came[static_cast<std::size_t>(member)];
    if (member == arrival.member) {
      all.push_back(arrival);
      continue;
    }
    one = std::move(arrivals[member].front());
    arrivals[member].pop_front();
    all.push_back({one.step, one.flags, member, one.rows});
  }
  const std::uint32_t flags = meet(all, members);
  group.books->close(all, options_.per_processor_costs);
  reap();
  return flags;
}

// Rank 0 asks around while it waits: two equal waves in which everybody waits and no message is under way.

MpiEndpoint::Status MpiEndpoint::own_status(const Waiting& why) const {
  return {true, sent_, received_, why, fmt::format("{}", why.file)};
}

void MpiEndpoint::answer_probe(const Waiting& why) {
  RecordHead head;
  head.record = Record::status;
  head.from = rank_;
  head.index = *probe_;
  head.blocked = 1;
  head.information = sent_;
  head.received = received_;
  probe_.reset();
  Buffer bytes;
  Waiting sent = why;
  sent.file = "";
  std::memcpy(bytes.extend(sizeof sent), &sent, sizeof sent);
  const std::size_t length = std::strlen(why.file);
  std::memcpy(bytes.extend(length + 1), why.file, length + 1);
  send_control(0, head, bytes.view().first(bytes.size() - 1));
}

/// Rank 0 only, while it waits. Starts a wave, or judges the one that is complete.
void MpiEndpoint::look_for_deadlock(const Waiting& why) {
  if (wave_ > 0) {
    statuses_[0] = own_status(why);
    std::uint64_t sent = 0, received = 0;
    std::vector<Status> wave;
    for (const auto& status : statuses_) {
      if (!status) return;  // somebody computes, or has not answered yet
      sent += status->sent, received += status->received;
      wave.push_back(*status);
    }
    if (sent == received && wave == last_wave_) {
      std::vector<Waiting> waiting;
      std::vector<std::uint8_t> finished;
      for (const Status& status : wave) {
        waiting.push_back(status.why);
        waiting.back().file = status.where.c_str();
        finished.push_back(status.why.what == Waiting::For::nothing ? 1 : 0);
      }
      const MachineError report = waiting_report(waiting, finished);
      aborted_ = true;
      fault_ = report.fault();
      fault_text_ = report.text();
      RecordHead head;
      head.record = Record::abort;
      head.index = static_cast<std::uint32_t>(fault_);
      for (std::int32_t to = 1; to < size_; ++to) send_control(to, head, std::as_bytes(std::span(fault_text_)));
      return;
    }
    last_wave_ = std::move(wave);
  }
  ++wave_;
  std::fill(statuses_.begin(), statuses_.end(), std::nullopt);
  RecordHead head;
  head.record = Record::probe;
  head.index = wave_;
  for (std::int32_t to = 1; to < size_; ++to) send_control(to, head, {});
}

// How a program ends, well or not: the ledgers come together, or everybody learns of the failure.

void MpiEndpoint::report(const GroupInfo& info, std::span<const Row> rows) {
  if (rows.empty()) return;
  MachineCosts& costs = leftovers_.try_emplace(info.id, info.costs()).first->second;
  for (const Row& row : rows) merge(costs, row, options_.per_processor_costs);
}

Ledger MpiEndpoint::ledger() {
  std::vector<MachineCosts> machines;
  for (const auto& [id, books] : accounts_) {
    if (id != kFinishGroup) machines.push_back(books.costs);
  }
  return {size_, 0, arrange(std::move(machines))};
}

Ledger MpiEndpoint::finish(double seconds) {
  finished_ = true;
  GroupInfo everybody;
  everybody.id = kFinishGroup;
  everybody.members.count = size_;
  const GroupPtr group = open(everybody);
  // What others do not know: the accounts this rank speaks for, and rows that no barrier carried.
  Buffer bytes;
  const auto pack = [&](const MachineCosts& costs) {
    const std::uint64_t head[] = {costs.id, costs.parent, costs.split, static_cast<std::uint64_t>(costs.size),
                                  costs.supersteps.size()};
    std::memcpy(bytes.extend(sizeof head), head, sizeof head);
    for (const Superstep& step : costs.supersteps) {
      const std::int64_t numbers[] = {step.nanoseconds,
                                      step.work,
                                      step.messages,
                                      step.blocks,
                                      step.bytes,
                                      step.total_messages,
                                      step.total_blocks,
                                      step.total_bytes,
                                      step.span_nanoseconds,
                                      static_cast<std::int64_t>(step.rows.size())};
      std::memcpy(bytes.extend(sizeof numbers), numbers, sizeof numbers);
      if (!step.rows.empty())
        std::memcpy(bytes.extend(step.rows.size() * sizeof(Row)), step.rows.data(), step.rows.size() * sizeof(Row));
    }
  };
  for (const auto& [id, books] : accounts_) {
    if (speaker_[id] == rank_) pack(books.costs);
  }
  for (const auto& [id, costs] : leftovers_) pack(costs);
  for (std::int32_t to = 0; to < size_; ++to) {
    auto block = std::make_unique<Block>();
    block->channel = {kFinishGroup, 0, Lane::ledger};
    block->from = rank_;
    if (!bytes.empty()) std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
    post(to, std::move(block));
  }
  barrier(*group, {0, 0, rank_, {}}, Waiting{});
  accounts_.clear();
  for (const BlockPtr& owner : ledgers_) {
    const std::byte* at = owner->payload.data();
    const std::byte* const end = at + owner->payload.size();
    while (at < end) {
      std::uint64_t head[5];
      std::memcpy(head, at, sizeof head);
      at += sizeof head;
      MachineCosts costs{head[0], head[1], head[2], static_cast<std::int64_t>(head[3]), {}};
      costs.supersteps.resize(head[4]);
      for (Superstep& step : costs.supersteps) {
        std::int64_t n[10];
        std::memcpy(n, at, sizeof n);
        at += sizeof n;
        step = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], std::vector<Row>(static_cast<std::size_t>(n[9]))};
        if (n[9] > 0) std::memcpy(step.rows.data(), at, step.rows.size() * sizeof(Row));
        at += step.rows.size() * sizeof(Row);
      }
      const auto [found, fresh] = accounts_.try_emplace(costs.id, Books{costs});
      if (!fresh) merge(found->second.costs, costs);
    }
  }
  Ledger all = ledger();
  all.seconds = seconds;
  return all;
}

void MpiEndpoint::abandon(Fault fault, const std::string& text) {
  RecordHead head;
  if (!aborted_) {
    aborted_ = true;
    head.record = Record::abort;
    head.index = static_cast<std::uint32_t>(fault);
    for (std::int32_t to = 0; to < size_; ++to) {
      if (to != rank_) send_control(to, head, std::as_bytes(std::span(text)));
    }
  }
  head.record = Record::goodbye;
  for (std::int32_t to = 0; to < size_; ++to) {
    if (to != rank_) send_control(to, head, {});
  }
  // Nobody sends after its goodbye, and messages of one sender keep their order.
  while (goodbyes_ < size_ - 1 || !flying_.empty()) {
    if (!progress()) sched_yield();
    reap();
  }
}

}  // namespace chasqui::bsp::detail
