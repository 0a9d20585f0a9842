// SPDX-License-Identifier: MIT
#include "mpi/post.hpp"

#include <cstring>

#include "run/faults/kept.hpp"

namespace chasqui::mpi {
namespace {

constexpr std::uint32_t kNewsTag = 32'700;  ///< above all collectives' tags

}  // namespace

Post::~Post() {
  if (OpenChannel::ended()) return;
  forget_sent();
  for (Letter& letter : letters_) {  // the message outlives this object
    MPI_Request_free(&letter.request);
    run::keep_for_ever(letter.text.release());
  }
}

void Post::send(int to, const void* news, std::size_t bytes) {
  forget_sent();
  Letter letter{std::make_unique<std::byte[]>(bytes)};
  std::memcpy(letter.text.get(), news, bytes);
  if (MPI_Isend(letter.text.get(), static_cast<int>(bytes), MPI_BYTE, channel_->place(to), channel_->tag(kNewsTag),
                channel_->comm(), &letter.request) == MPI_SUCCESS)
    letters_.push_back(std::move(letter));
}

void Post::forget_sent() {
  std::erase_if(letters_, [](Letter& letter) {
    int flag = 0;
    return MPI_Test(&letter.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
  });
}

std::optional<int> Post::receive(void* news, std::size_t bytes) {
  if (OpenChannel::ended()) return std::nullopt;
  int flag = 0;
  MPI_Status status{};
  const int tag = channel_->tag(kNewsTag);
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, channel_->comm(), &flag, &status) != MPI_SUCCESS || flag == 0)
    return std::nullopt;
  if (MPI_Recv(news, static_cast<int>(bytes), MPI_BYTE, status.MPI_SOURCE, tag, channel_->comm(), MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    return std::nullopt;
  return channel_->rank_at(status.MPI_SOURCE);
}

}  // namespace chasqui::mpi
