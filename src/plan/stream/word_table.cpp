// SPDX-License-Identifier: MIT
#include "plan/stream/word_table.hpp"

#include <algorithm>
#include <map>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/growth.hpp"
#include "plan/stream/juggling.hpp"

namespace chasqui::plan::stream_detail {
namespace {

using Word = std::vector<std::int32_t>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Which words a rank can have, and which sets of them use every letter of the tree once a step.
class WordSearch {
 public:
  WordSearch(std::int64_t L, std::int64_t t, std::int64_t period) : L_(L), t_(t), period_(period) {
    Growth f(L, 1);
    f.extend_to(t);
    n_ = f(t);
    for (std::int64_t d = 0; d <= t; ++d) {
      if (f.at_label(d) > 0) each_step_[static_cast<std::int32_t>(t - d)] = f.at_label(d);
    }
  }

  std::optional<WordTable> run() {
    Word word;
    list_words(word);
    left_.assign(index(period_), each_step_);
    if (!choose(0)) return std::nullopt;
    return WordTable{L_, t_, period_, chosen_};
  }

 private:
  bool sends_fit(const Word& word) const {
    std::vector<bool> busy(index(period_));
    for (std::int64_t j = 0; j < period_; ++j) {
      for (std::int64_t c = 0; c < word[index(j)] - L_ + 1; ++c) {
        if (c >= period_ || busy[index((j + c) % period_)]) return false;
        busy[index((j + c) % period_)] = true;
      }
    }
    return true;
  }

  void list_words(Word& word) {
    if (std::ssize(word) == period_) {
      if (is_juggling(word) && sends_fit(word)) words_.push_back(word);
      return;
    }
    for (const auto& [letter, count] : each_step_) {
      word.push_back(letter);
      list_words(word);
      word.pop_back();
    }
  }

  /// Words are taken in their order in the list, so each set is met once.
  bool choose(std::size_t from) {
    if (std::ssize(chosen_) == n_) return true;
    for (std::size_t w = from; w < words_.size(); ++w) {
      if (!take(words_[w])) continue;
      if (still_possible(w)) {
        chosen_.push_back(words_[w]);
        if (choose(w)) return true;
        chosen_.pop_back();
      }
      put_back(words_[w]);
    }
    return false;
  }

  bool take(const Word& word) {
    for (std::int64_t j = 0; j < period_; ++j) {
      if (left_[index(j)][word[index(j)]]-- == 0) {
        for (std::int64_t back = 0; back <= j; ++back) ++left_[index(back)][word[index(back)]];
        return false;
      }
    }
    return true;
  }

  void put_back(const Word& word) {
    for (std::int64_t j = 0; j < period_; ++j) ++left_[index(j)][word[index(j)]];
  }

  /// Words are listed by their first letter: letters below it must be used up in step 0.
  bool still_possible(std::size_t w) const {
    for (const auto& [letter, count] : left_[0]) {
      if (letter < words_[w][0] && count > 0) return false;
    }
    return true;
  }

  std::int64_t L_, t_, period_;
  std::int64_t n_ = 0;
  std::map<std::int32_t, std::int64_t> each_step_;
  std::vector<std::map<std::int32_t, std::int64_t>> left_;
  std::vector<Word> words_, chosen_;
};

}  // namespace

std::optional<WordTable> search_words(std::int64_t L, std::int64_t t, std::int64_t period) {
  return WordSearch(L, t, period).run();
}

TableStream::TableStream(std::int64_t P, std::int64_t root, WordTable table, Claim claim)
    : Stream(P, table.L, root, std::move(claim)), table_(std::move(table)) {
  for (std::int64_t item = 0; item < table_.period; ++item) {
    std::vector<StreamMessage> messages;
    std::vector<std::vector<std::int64_t>> senders(index(table_.t) + 1);
    for (std::int64_t label = 0; label <= table_.t; ++label) {
      std::size_t k = 0;
      for (std::size_t rank = 0; rank < table_.words.size(); ++rank) {
        if (table_.words[rank][index((item + label) % table_.period)] != table_.t - label) continue;
        const std::int64_t from = label == 0 ? -1 : senders[index(label)].at(k++);
        messages.push_back({{item + label}, item, from, static_cast<std::int64_t>(rank)});
        for (std::int64_t child = label + L_; child <= table_.t; ++child) {
          senders[index(child)].push_back(static_cast<std::int64_t>(rank));
        }
      }
    }
    CHASQUI_CHECK(std::ssize(messages) == P - 1, "TableStream: item {} has {} messages", item, messages.size());
    by_item_.push_back(std::move(messages));
  }
}

std::vector<StreamMessage> TableStream::messages_of(std::int64_t item) const {
  std::vector<StreamMessage> messages = by_item_[index(modulo(item, table_.period))];
  for (StreamMessage& message : messages) {
    message.begin += Time{item - message.item};
    message.item = item;
    message.from = outer(message.from);
    message.to = outer(message.to);
  }
  return messages;
}

std::optional<StreamMessage> TableStream::pattern_sent(std::int64_t rank, std::int64_t time) const {
  for (std::int64_t item = time - table_.t; item <= time; ++item) {
    for (const StreamMessage& message : messages_of(item)) {
      if (message.from == rank && message.begin.ticks == time) return message;
    }
  }
  return std::nullopt;
}

std::optional<StreamMessage> TableStream::pattern_received(std::int64_t rank, std::int64_t time) const {
  for (std::int64_t item = time - L_ - table_.t; item <= time - L_; ++item) {
    for (const StreamMessage& message : messages_of(item)) {
      if (message.to == rank && message.begin.ticks + L_ == time) return message;
    }
  }
  return std::nullopt;
}

}  // namespace chasqui::plan::stream_detail
