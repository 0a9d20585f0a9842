// SPDX-License-Identifier: MIT
#include "plan/stream/word_table.hpp"

#include <optional>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {
namespace {

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

class TableStream final : public Stream {
 public:
  TableStream(std::int64_t P, std::int64_t root, WordTable table, Claim claim)
      : Stream(P, table.L, root, std::move(claim)), table_(std::move(table)) {
    for (std::int64_t item = 0; item < table_.period; ++item) {
      std::vector<StreamMessage> messages;
      std::vector<std::vector<std::int64_t>> senders(place(table_.t) + 1);
      for (std::int64_t label = 0; label <= table_.t; ++label) {
        std::size_t k = 0;
        for (std::size_t rank = 0; rank < table_.words.size(); ++rank) {
          if (table_.words[rank][place((item + label) % table_.period)] != table_.t - label) continue;
          const std::int64_t from = label == 0 ? -1 : senders[place(label)].at(k++);
          messages.push_back({{item + label}, item, from, static_cast<std::int64_t>(rank)});
          for (std::int64_t child = label + L_; child <= table_.t; ++child) {
            senders[place(child)].push_back(static_cast<std::int64_t>(rank));
          }
        }
      }
      CHASQUI_CHECK(std::ssize(messages) == P - 1, "TableStream: item {} has {} messages", item, messages.size());
      by_item_.push_back(std::move(messages));
    }
  }

  std::int64_t period() const override { return table_.period; }
  std::optional<StreamMessage> pattern_sent(std::int64_t rank, std::int64_t time) const override {
    for (std::int64_t item = time - table_.t; item <= time; ++item) {
      for (const StreamMessage& message : messages_of(item)) {
        if (message.from == rank && message.begin.ticks == time) return message;
      }
    }
    return std::nullopt;
  }

  std::optional<StreamMessage> pattern_received(std::int64_t rank, std::int64_t time) const override {
    for (std::int64_t item = time - L_ - table_.t; item <= time - L_; ++item) {
      for (const StreamMessage& message : messages_of(item)) {
        if (message.to == rank && message.begin.ticks + L_ == time) return message;
      }
    }
    return std::nullopt;
  }

  std::vector<StreamMessage> messages_of(std::int64_t item) const override {
    std::vector<StreamMessage> messages = by_item_[place(modulo(item, table_.period))];
    for (StreamMessage& message : messages) {
      message.begin += Time{item - message.item};
      message.item = item;
      message.from = outer(message.from);
      message.to = outer(message.to);
    }
    return messages;
  }

 private:
  WordTable table_;
  std::vector<std::vector<StreamMessage>> by_item_;  ///< messages of items 0 .. period-1, inner ranks
};

}  // namespace

WordTable words_of_two(std::int64_t n) {
  if (n == 5) return {2, 4, 4, {{0, 0, 0, 4}, {0, 4, 0, 0}, {1, 2, 4, 1}, {2, 0, 2, 0}, {4, 1, 1, 2}}};
  CHASQUI_CHECK(n == 8, "words_of_two: n={}", n);
  return {2,
          5,
          5,
          {{0, 0, 0, 0, 5},
           {0, 0, 0, 5, 0},
           {0, 5, 0, 0, 0},
           {1, 2, 5, 1, 1},
           {1, 3, 1, 2, 3},
           {2, 0, 3, 0, 0},
           {3, 1, 2, 3, 1},
           {5, 1, 1, 1, 2}}};
}

StreamPtr table_stream(std::int64_t P, std::int64_t root, WordTable table, Claim claim) {
  return std::make_shared<TableStream>(P, root, std::move(table), std::move(claim));
}

}  // namespace chasqui::plan::stream_detail
