// SPDX-License-Identifier: MIT
// Collectives of one processor: its part of the library's plan, played with messages of their own. A
// processor waits only for the messages of its part; supersteps go on independently.
#include "chasqui/plan/collectives.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/bsp/detail/core.hpp"

namespace chasqui::bsp::detail {

namespace {

/// Plans are immutable and shared by all processors of the process.
plan::PlanPtr shared_plan(Kind kind, std::int32_t size, std::int32_t root, bool flag, const Options& options) {
  using Key = std::tuple<Kind, std::int32_t, std::int32_t, bool, std::int64_t, std::int64_t, std::int64_t>;
  static std::mutex mutex;
  static std::map<Key, plan::PlanPtr> plans;
  const Key key{kind, size, root, flag, options.latency.ticks, options.overhead.ticks, options.gap.ticks};
  const std::lock_guard lock(mutex);
  if (plans.size() > 4096) plans.clear();
  plan::PlanPtr& plan = plans[key];
  if (plan == nullptr) {
    const LogP machine{size, options.latency, options.overhead, options.gap};
    plan = plan::make_plan({machine, {.kind = kind, .root = {root}, .commutative = flag, .exclusive = flag}});
  }
  return plan;
}

/// Folds this processor has: its own contribution and what arrived.
class Folds {
 public:
  Folds(std::int32_t size, std::size_t bytes, Combine combine, const void* context)
      : size_(size), bytes_(bytes), combine_(combine), context_(context) {}

  void add(Part part, const std::byte* value) {
    if (part.len == 0) return;
    pieces_.push_back({part, {}});
    std::memcpy(pieces_.back().value.extend(bytes_), value, bytes_);
  }

  /// The fold of `part` from pieces that tile it exactly. REQUIRES there are such pieces: the plan says so.
  void fold(Part part, std::byte* result) const {
    std::vector<std::size_t> chosen;
    CHASQUI_CHECK(tile(part.lo, part.len, chosen), "no tiling of {}+{} from {} pieces", part.lo, part.len,
                  pieces_.size());
    std::memcpy(result, pieces_[chosen[0]].value.data(), bytes_);
    for (std::size_t i = 1; i < chosen.size(); ++i) combine_(context_, result, pieces_[chosen[i]].value.data(), result);
  }

 private:
  struct Piece {
    Part part;
    Buffer value;
  };

  bool tile(std::int32_t lo, std::int32_t len, std::vector<std::size_t>& chosen) const {
    if (len == 0) return true;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Part& part = pieces_[i].part;
      if (part.lo != lo || part.len > len) continue;
      chosen.push_back(i);
      if (tile((lo + part.len) % size_, len - part.len, chosen)) return true;
      chosen.pop_back();
    }
    return false;
  }

  std::int32_t size_;
  std::size_t bytes_;
  Combine combine_;
  const void* context_;
  std::vector<Piece> pieces_;
};

}  // namespace

void Core::send_now(std::uint64_t sequence, std::int32_t to, std::uint32_t index, std::span<const std::byte> bytes) {
  auto block = std::make_unique<Block>();
  block->channel = {info_.id, sequence, Lane::collective};
  block->from = rank_;
  block->index = index;
  if (!bytes.empty()) std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
  ++current_.sent_messages, ++current_.sent_blocks;
  current_.sent_bytes += static_cast<std::int64_t>(bytes.size());
  processor_.door().post(info_.members.at(to), std::move(block));
}

BlockPtr Core::receive_now(std::uint64_t sequence, std::int32_t from, const SourceLocation& where) {
  const Channel channel{info_.id, sequence, Lane::collective};
  for (;;) {
    if (BlockPtr block = processor_.claim_from(channel, from)) {
      processor_.door().unstow(*block);
      ++current_.received_messages, ++current_.received_blocks;
      current_.received_bytes += static_cast<std::int64_t>(block->payload.size());
      return block;
    }
    processor_.await(
        {Waiting::For::collective, info_.id, size(), main_.step, 0, from, where.file_name(), where.line()});
  }
}

void Core::broadcast(std::byte* data, std::size_t bytes, std::int32_t root, const SourceLocation& where) {
  check_rank(root, "broadcasts from");
  const std::uint64_t sequence = collectives_++;
  if (size() == 1) return;
  const LocalForm form =
      shared_plan(Kind::broadcast, size(), root, false, processor_.door().options())->local(Rank{rank_});
  for (const Send& receive : form.receives) {
    const BlockPtr block = receive_now(sequence, receive.from.index, where);
    if (block->payload.size() != bytes) {
      throw MachineError(
          Fault::sync_mismatch,
          fmt::format("rank {} at {}:{} takes part in a collective of {} bytes, rank {} in one of {}", rank_,
                      where.file_name(), where.line(), bytes, block->from, block->payload.size()));
    }
    if (bytes > 0) std::memcpy(data, block->payload.data(), bytes);
  }
  for (const Send& send : form.sends) send_now(sequence, send.to.index, 0, {data, bytes});
}

void Core::combine_by_plan(const plan::Plan& plan, std::byte* data, std::size_t bytes, Part wanted, Combine combine,
                           const void* context, const SourceLocation& where) {
  const std::uint64_t sequence = collectives_++;
  const LocalForm form = plan.local(Rank{rank_});
  Folds folds(size(), bytes, combine, context);
  folds.add({rank_, 1}, data);
  std::size_t received = 0;
  const auto receive_until = [&](Time limit) {
    for (; received < form.receives.size() && available(plan.machine(), form.receives[received]) <= limit; ++received) {
      const Send& expected = form.receives[received];
      const BlockPtr block = receive_now(sequence, expected.from.index, where);
      const std::size_t values = expected.second.len > 0 ? 2 : 1;
      if (block->payload.size() != values * bytes) {
        throw MachineError(
            Fault::sync_mismatch,
            fmt::format("rank {} at {}:{} takes part in a collective of {} bytes a value, rank {} in another", rank_,
                        where.file_name(), where.line(), bytes, block->from));
      }
      folds.add(expected.part, block->payload.data());
      folds.add(expected.second, block->payload.data() + bytes);
    }
  };
  Buffer out;
  std::map<std::int32_t, std::uint32_t> sent;  // several messages to one receiver keep their order
  for (const Send& send : form.sends) {
    receive_until(send.begin);
    out.clear();
    folds.fold(send.part, out.extend(bytes));
    if (send.second.len > 0) folds.fold(send.second, out.extend(bytes));
    send_now(sequence, send.to.index, sent[send.to.index]++, out.view());
  }
  receive_until(Time{kSaturated});
  if (wanted.len > 0) folds.fold(wanted, data);
}

void Core::reduce(std::byte* data, std::size_t bytes, std::int32_t root, bool commutative, Combine combine,
                  const void* context, const SourceLocation& where) {
  check_rank(root, "reduces to");
  if (size() == 1) return;
  const auto plan = shared_plan(Kind::reduce, size(), root, commutative, processor_.door().options());
  combine_by_plan(*plan, data, bytes, {0, rank_ == root ? size() : 0}, combine, context, where);
}

void Core::allreduce(std::byte* data, std::size_t bytes, bool commutative, Combine combine, const void* context,
                     const SourceLocation& where) {
  if (size() == 1) return;
  const auto plan = shared_plan(Kind::allreduce, size(), 0, commutative, processor_.door().options());
  combine_by_plan(*plan, data, bytes, {0, size()}, combine, context, where);
}

bool Core::scan(std::byte* data, std::size_t bytes, bool exclusive, Combine combine, const void* context,
                const SourceLocation& where) {
  if (size() == 1) return !exclusive;
  const auto plan = shared_plan(Kind::scan, size(), 0, exclusive, processor_.door().options());
  combine_by_plan(*plan, data, bytes, {0, exclusive ? rank_ : rank_ + 1}, combine, context, where);
  return !exclusive || rank_ > 0;
}

/// The plan of a gather is one message from everybody to the root; the root takes them as they come.
std::vector<Buffer> Core::gather(std::span<const std::byte> mine, std::int32_t root, const SourceLocation& where) {
  check_rank(root, "gathers to");
  const std::uint64_t sequence = collectives_++;
  std::vector<Buffer> all;
  if (rank_ != root) {
    send_now(sequence, root, 0, mine);
    return all;
  }
  all.resize(static_cast<std::size_t>(size()));
  if (!mine.empty()) std::memcpy(all[static_cast<std::size_t>(rank_)].extend(mine.size()), mine.data(), mine.size());
  std::int32_t missing = size() - 1;
  std::vector<BlockPtr> blocks;
  for (;;) {
    blocks.clear();
    processor_.claim({info_.id, sequence, Lane::collective}, blocks);
    for (const BlockPtr& block : blocks) {
      processor_.door().unstow(*block);
      ++current_.received_messages, ++current_.received_blocks;
      current_.received_bytes += static_cast<std::int64_t>(block->payload.size());
      all[static_cast<std::size_t>(block->from)] = std::move(block->payload);
      --missing;
    }
    if (missing == 0) return all;
    processor_.await({Waiting::For::collective, info_.id, size(), main_.step, size() - missing, root, where.file_name(),
                      where.line()});
  }
}

}  // namespace chasqui::bsp::detail
