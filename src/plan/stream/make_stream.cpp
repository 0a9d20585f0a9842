// SPDX-License-Identifier: MIT
// Which construction serves which (P, L).
#include <fmt/core.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/stream/compose.hpp"
#include "plan/stream/even_exception.hpp"
#include "plan/stream/layout.hpp"
#include "plan/stream/short_latency.hpp"
#include "plan/stream/word_table.hpp"

namespace chasqui::plan {

using namespace stream_detail;

namespace {

/// Several streams of a smaller latency, one every c steps, make one stream of a large latency. Always legal: the net below
/// the constructions that meet the bound (streams.md, Theorem 14).
/// Item i belongs to copy i mod c and is its item i div c; a step of a copy is c steps of the machine. Copies
/// begin their sends, and their receptions, at different times modulo c. Delay: L + c · (inner delay - inner
/// L). REQUIRES c · inner->L() >= L.
class InterleavedStream final : public Stream {
 public:
  InterleavedStream(std::int64_t L, std::int64_t copies, StreamPtr inner, Claim claim)
      : Stream(inner->P(), L, inner->root(), std::move(claim)), copies_(copies), inner_(std::move(inner)) {
    CHASQUI_CHECK(copies_ * inner_->L() >= L, "InterleavedStream: {} copies of L={} for L={}", copies_, inner_->L(), L);
  }

  std::int64_t period() const override { return saturating_multiply(copies_, inner_->period()); }
  std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const override {
    const std::int64_t copy = modulo(time, copies_);
    const auto message = inner_->pattern_sent(rank, (time - copy) / copies_);
    return message ? std::optional(expand(*message, copy)) : std::nullopt;
  }

  std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const override {
    const std::int64_t copy = modulo(time - L_, copies_);
    const auto message = inner_->pattern_received(rank, (time - L_ - copy) / copies_ + inner_->L());
    return message ? std::optional(expand(*message, copy)) : std::nullopt;
  }

  std::vector<StreamMessage> messages_of(std::int64_t item) const override {
    const std::int64_t copy = modulo(item, copies_);
    std::vector<StreamMessage> messages = inner_->messages_of((item - copy) / copies_);
    for (StreamMessage& message : messages) message = expand(message, copy);
    return messages;
  }

 private:
  StreamMessage expand(StreamMessage message, std::int64_t copy) const {
    message.begin = Time{message.begin.ticks * copies_ + copy};
    message.item = message.item * copies_ + copy;
    return message;
  }

  std::int64_t copies_;
  StreamPtr inner_;
};

/// Composition balances about 2L trees of L²/2 ranks each: above this latency that takes more than a few seconds.
constexpr std::int64_t kLargestComposed = 300;
/// Above this latency even one tree has words too long to order in a few seconds.
constexpr std::int64_t kLargestBulk = 30'000;

std::int64_t tree_height(std::int64_t L, std::int64_t n) { return broadcast_time({Time{L}, Time{1}}, n).ticks; }

struct Found {
  Layout layout;
  std::string construction;
};

std::optional<Found> from_recipe(const std::optional<Recipe>& recipe, std::int64_t n, const char* construction) {
  if (!recipe) return std::nullopt;
  CHASQUI_CHECK(is_sound(*recipe, n), "stream: L={} n={} t={}", recipe->L, n, recipe->t);
  return Found{lay_out(*recipe), construction};
}

/// A block-cyclic layout of height B(n; L) (L = 2: the least possible), or nothing.
std::optional<Found> find_layout(std::int64_t L, std::int64_t n) {
  if (n <= L + 1) return Found{single_block(L, n), "one block in closed form"};
  if (L == 1) return from_recipe(latency_one(n), n, "blocks, books balanced by the missing nodes (L = 1)");
  const std::int64_t t = tree_height(L, n);
  if (L == 2) {
    return two_reaches_bound(n) ? from_recipe(latency_two(n, t), n, "blocks with paired letters or cut trees (L = 2)")
                                : from_recipe(latency_two(n, t + 1), n, "blocks on a cut tree one step higher (L = 2)");
  }
  if (L > kLargestBulk) return std::nullopt;
  if (is_even_exception(L, n)) {
    auto layout = even_exception(L);
    if (!layout) return std::nullopt;
    return Found{std::move(*layout), "one block that plays both internal nodes (even L, n = L+3)"};
  }
  if (L > kLargestComposed) return from_recipe(balance_in_bulk(L, n), n, "blocks, balanced in bulk");
  const char* name = t < base_range(L).first ? "blocks, balanced directly" : "blocks, composed from balanced trees";
  return from_recipe(compose(L, n), n, name);
}

Claim bound_of(std::int64_t L, std::int64_t n) {
  Claim claim;
  claim.bound = Time{L + tree_height(L, n)};
  claim.bound_source = "a stream's root sends each item once: L + B(P-1) (streams.md, Theorem 2)";
  if (L == 2 && !two_reaches_bound(n)) {
    claim.bound += Time{1};
    claim.bound_source = "L + B(P-1) + 1: with L = 2 too many ranks would idle (streams.md, Theorem 12)";
  }
  return claim;
}

/// One layout: of latency L or, as the net below it, of latency L+1. Nothing if there is neither.
StreamPtr without_interleaving(std::int64_t P, std::int64_t L, std::int64_t root) {
  const std::int64_t n = P - 1;
  Claim claim = bound_of(L, n);
  if (L == 2 && (n == 5 || n == 8)) {
    const WordTable table = words_of_two(n);
    claim.finish = Time{L + table.t};
    claim.construction = "a word of its own for every rank (L = 2, n = 5 or 8)";
    return table_stream(P, root, table, claim);
  }
  for (const std::int64_t lambda : {L, L + 1}) {
    auto found = find_layout(lambda, n);
    if (!found) continue;
    claim.finish = Time{L + found->layout.t};
    claim.construction = std::move(found->construction);
    if (lambda > L) claim.construction += fmt::format(", on the tree of latency {}: every node waits a step", lambda);
    return block_stream(P, L, root, std::move(found->layout), claim);
  }
  return nullptr;
}

StreamPtr build(std::int64_t P, std::int64_t L, std::int64_t root) {
  if (StreamPtr stream = without_interleaving(P, L, root)) return stream;
  for (std::int64_t copies = 2; copies <= L; copies += 1 + copies / 4) {
    const std::int64_t inner_L = (L + copies - 1) / copies;
    StreamPtr inner = without_interleaving(P, inner_L, root);
    if (!inner) continue;
    Claim claim = bound_of(L, P - 1);
    claim.finish = Time{L + copies * (inner->delay().ticks - inner_L)};
    claim.construction = fmt::format("{} interleaved streams of latency {}", copies, inner_L);
    return std::make_shared<InterleavedStream>(L, copies, std::move(inner), claim);
  }
  CHASQUI_CHECK(false, "stream: nothing for P={} L={}", P, L);
  return nullptr;
}

}  // namespace

StreamPtr make_stream(std::int64_t P, std::int64_t L, std::int64_t root) {
  if (P < 2) throw Error("a stream needs P >= 2, not P={}: with one processor there is nobody to send to", P);
  if (P > kMaxStreamProcessors) throw Error("P={} is too large for a stream: at most {}", P, kMaxStreamProcessors);
  if (L < 1 || L > kMaxStreamLatency) throw Error("L={} is out of range for a stream: 1..{}", L, kMaxStreamLatency);
  if (root < 0 || root >= P) throw Error("root={} does not exist: ranks are 0..{}", root, P - 1);
  if (P - 1 <= L + 1 && P > 50'000'000) {
    throw Error("P={} L={}: a block of this stream has {} ranks, at most 50000000 can be planned; take P > L+2", P, L,
                P - 2);
  }
  return build(P, L, root);
}

std::optional<StreamMessage> Stream::sent(std::int64_t rank, Time begin) const {
  CHASQUI_CHECK(rank >= 0 && rank < P_ && begin.ticks <= kMaxTime, "Stream::sent: rank={} P={} begin={}", rank, P_,
                begin.ticks);
  auto message = pattern_sent(rank, begin.ticks);
  return message && message->item >= 0 ? message : std::nullopt;
}

std::optional<StreamMessage> Stream::received(std::int64_t rank, Time available) const {
  CHASQUI_CHECK(rank >= 0 && rank < P_ && available.ticks <= kMaxTime, "Stream::received: rank={} P={} available={}",
                rank, P_, available.ticks);
  auto message = pattern_received(rank, available.ticks);
  return message && message->item >= 0 ? message : std::nullopt;
}

Time stream_bound(const LogP& machine) {
  if (machine.P == 1) return Time{0};
  if (machine.is_postal()) return bound_of(machine.L.ticks, machine.P - 1).bound;
  return machine.lambda() + broadcast_time(broadcast_shape(machine), machine.P - 1);
}

bool stream_bound_reachable_at_two(std::int64_t P) { return P < 2 || two_reaches_bound(P - 1); }

}  // namespace chasqui::plan
