// SPDX-License-Identifier: MIT
// Several streams of a smaller latency, one every c steps, make one stream of a large latency. Always legal:
// the net below the constructions that meet the bound.
#pragma once

#include <cstdint>

#include "chasqui/plan/stream.hpp"

namespace chasqui::plan::stream_detail {

/// Item i belongs to copy i mod c and is its item i div c; a step of a copy is c steps of the machine. Copies
/// begin their sends, and their receptions, at different times modulo c. Delay: L + c · (inner delay - inner
/// L). REQUIRES c · inner->L() >= L.
class InterleavedStream final : public Stream {
 public:
  InterleavedStream(std::int64_t L, std::int64_t copies, StreamPtr inner, Claim claim);

  std::int64_t period() const override;
  std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const override;
  std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const override;
  std::vector<StreamMessage> messages_of(std::int64_t item) const override;

 private:
  StreamMessage expand(StreamMessage message, std::int64_t copy) const;

  std::int64_t copies_;
  StreamPtr inner_;
};

}  // namespace chasqui::plan::stream_detail
