// SPDX-License-Identifier: MIT
// What ranks say to each other of failures, in MPI messages with a tag of their own that nobody waits for.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/open_channel.hpp"
#include "run/faults/post.hpp"

namespace chasqui::mpi {

class Post final : public run::Post {
 public:
  /// The communicator's error handler returns.
  explicit Post(std::shared_ptr<OpenChannel> channel) : channel_(std::move(channel)) {}
  ~Post() override;
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  void send(int to, const void* news, std::size_t bytes) override;
  std::optional<int> receive(void* news, std::size_t bytes) override;
  void disturbed() override { channel_->disturbed = true; }

 private:
  void forget_sent();

  std::shared_ptr<OpenChannel> channel_;
  struct Letter {
    std::unique_ptr<std::byte[]> text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<Letter> letters_;  ///< sent, and maybe still under way
};

}  // namespace chasqui::mpi
