// SPDX-License-Identifier: MIT
// What was worked out for calls that are alike, so that it is worked out once. No more than some hundred entries: a program whose
// calls all differ does not fill the memory.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace chasqui::run {

template <typename Key, typename Value>
class Remembered {
 public:
  /// The value of this key, made by make() the first time. Valid until another one is made.
  template <typename Make>
  Value& get(const Key& key, const Make& make) {
    if (const auto found = values_.find(key); found != values_.end()) return found->second;
    Value made = make();
    if (values_.size() >= kMost) values_.clear();
    return values_.emplace(key, std::move(made)).first->second;
  }

 private:
  static constexpr std::size_t kMost = 512;
  std::map<Key, Value> values_;
};

}  // namespace chasqui::run
