// SPDX-License-Identifier: MIT
// What ranks say to each other of failures, in MPI messages with a tag of their own that nobody waits for.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "mpi/open_channel.hpp"
#include "run/faults/bad_news.hpp"
#include "run/faults/fault_channel.hpp"

namespace chasqui::mpi {

class Faults final : public run::FaultChannel {
 public:
  /// The communicator's error handler returns. `stamp` is the same on all ranks, and no other communicator's: news that
  /// others left behind are not taken for its own.
  Faults(std::shared_ptr<OpenChannel> channel, std::uint64_t stamp);
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  void report(std::uint64_t first, std::uint64_t last, const std::string& why) override;
  void refuse(std::uint64_t number, const std::string& why) override;
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) override;
  bool broken() const override { return heard_.broken(); }
  std::string failure() const override { return heard_.why(); }
  void tell(int to, std::uint64_t number, const run::Signature& call) override;
  std::optional<run::Told> hear() override;

 private:
  void tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why);
  void listen();
  void forget_words();

  std::shared_ptr<OpenChannel> channel_;
  std::uint64_t stamp_;
  run::BadNews heard_;
  std::deque<run::Told> told_;
  struct Word;
  std::vector<Word> words_;  ///< told, and maybe still under way
};

}  // namespace chasqui::mpi
