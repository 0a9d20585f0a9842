// SPDX-License-Identifier: MIT
#include "mpi/faults.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace chasqui::mpi {
namespace {

constexpr std::uint32_t kNewsTag = 32'700;  ///< above all collectives' tags

struct News {
  enum class What : std::uint32_t { failure, refusal, call };
  std::uint64_t stamp;  ///< of the communicator
  What what;
  std::uint64_t first, last;  ///< numbers of calls
  run::Signature call;
  char why[400];  ///< not sent with a call
};
constexpr int kWordBytes = offsetof(News, why);

}  // namespace

struct Faults::Word {
  std::unique_ptr<News> news;
  MPI_Request request = MPI_REQUEST_NULL;
};

Faults::Faults(std::shared_ptr<OpenChannel> channel, std::uint64_t stamp)
    : channel_(std::move(channel)), stamp_(stamp) {}

Faults::~Faults() {
  if (OpenChannel::ended()) return;
  listen();  // takes in bad news that nobody asked for
  forget_words();
  for (Word& word : words_) {  // the message outlives this object: its memory is never given back
    MPI_Request_free(&word.request);
    static_cast<void>(word.news.release());
  }
}

void Faults::tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why) {
  channel_->disturbed = true;
  // The messages outlive this call and perhaps this object: their memory is never given back.
  auto* news = new News{stamp_, refusal ? News::What::refusal : News::What::failure, first, last, {}, {}};
  std::memcpy(news->why, why.data(), std::min(why.size(), sizeof(news->why) - 1));
  for (int r = 0; r < channel_->size; ++r) {
    if (r == channel_->rank) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(news, sizeof(News), MPI_BYTE, channel_->place(r), channel_->tag(kNewsTag), channel_->comm(),
                  &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

void Faults::report(std::uint64_t first, std::uint64_t last, const std::string& why) {
  tell_all(first, last, false, why);
}

void Faults::refuse(std::uint64_t number, const std::string& why) { tell_all(number, number, true, why); }

void Faults::listen() {
  int flag = 0;
  MPI_Status status{};
  const int tag = channel_->tag(kNewsTag);
  while (MPI_Iprobe(MPI_ANY_SOURCE, tag, channel_->comm(), &flag, &status) == MPI_SUCCESS && flag != 0) {
    News news{};
    MPI_Recv(&news, sizeof news, MPI_BYTE, status.MPI_SOURCE, tag, channel_->comm(), MPI_STATUS_IGNORE);
    if (news.stamp != stamp_) continue;
    if (news.what == News::What::call) {
      told_.push_back({channel_->rank_at(status.MPI_SOURCE), news.first, news.call});
      continue;
    }
    channel_->disturbed = true;
    if (news.what == News::What::refusal) heard_.refuse(news.first, news.why);
    else heard_.report(news.first, news.last, news.why);
  }
}

void Faults::forget_words() {
  std::erase_if(words_, [](Word& word) {
    int flag = 0;
    return MPI_Test(&word.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
  });
}

void Faults::tell(int to, std::uint64_t number, const run::Signature& call) {
  forget_words();
  Word word{std::make_unique<News>(News{stamp_, News::What::call, number, number, call, {}})};
  if (MPI_Isend(word.news.get(), kWordBytes, MPI_BYTE, channel_->place(to), channel_->tag(kNewsTag), channel_->comm(),
                &word.request) != MPI_SUCCESS)
    return;
  words_.push_back(std::move(word));
}

std::optional<run::Told> Faults::hear() {
  if (told_.empty()) listen();
  if (told_.empty()) return std::nullopt;
  const run::Told first = told_.front();
  told_.pop_front();
  return first;
}

bool Faults::failed(std::uint64_t number, const std::vector<std::uint64_t>& own) {
  listen();
  return heard_.concerns(number, own);
}

}  // namespace chasqui::mpi
