// SPDX-License-Identifier: MIT
// News of failures in messages that nobody waits for: a FaultChannel over whatever can carry a few hundred bytes.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "run/faults/bad_news.hpp"
#include "run/faults/fault_channel.hpp"

namespace chasqui::run {

/// Carries news between the ranks of one communicator, beside the messages of its collectives.
class Post {
 public:
  virtual ~Post() = default;
  virtual void send(int to, const void* news, std::size_t bytes) = 0;  ///< the bytes are copied; it may be lost
  /// The next that has come, in up to `bytes`, and who sent it.
  virtual std::optional<int> receive(void* news, std::size_t bytes) = 0;
  virtual void disturbed() {}  ///< a call has failed: messages of collectives may be left that nobody takes
};

class NewsByPost final : public FaultChannel {
 public:
  /// `stamp` is the same on all ranks, and no other communicator's: news that others left behind are not taken for its own.
  NewsByPost(int rank, int size, std::shared_ptr<Post> post, std::uint64_t stamp)
      : rank_(rank), size_(size), post_(std::move(post)), stamp_(stamp) {}
  ~NewsByPost() override;
  NewsByPost(const NewsByPost&) = delete;
  NewsByPost& operator=(const NewsByPost&) = delete;

  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override;
  void refuse(std::uint64_t number, const std::string& why) override;
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override;
  bool broken() const override { return heard_.broken(); }
  std::string failure() const override { return heard_.why(); }
  void tell(int to, std::uint64_t number, const Signature& call) override;
  std::optional<Told> hear() override;

 private:
  void tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why);
  void listen();

  int rank_, size_;
  std::shared_ptr<Post> post_;
  std::uint64_t stamp_;
  BadNews heard_;
  std::deque<Told> told_;
};

}  // namespace chasqui::run
