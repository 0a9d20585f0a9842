// SPDX-License-Identifier: MIT
#include "mpi/messages.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "mpi/check.hpp"
#include "run/messages/message_cost.hpp"

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

/// A long message that is arriving cannot be called off, and its buffer is about to go: gives it time to end. One that
/// nobody will take never ends, and touches nothing.
void settle(MPI_Request& request, double until) {
  int flag = 0;
  while (flag == 0 && MPI_Wtime() < until) {
    if (MPI_Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    if (flag == 0) sched_yield();
  }
}

}  // namespace

struct Messages::Word {
  std::unique_ptr<News> news;
  MPI_Request request = MPI_REQUEST_NULL;
};

Messages::Messages(Channel channel, int rank, int size, bool blocking_waits, const Level& level, std::size_t longest,
                   std::uint64_t stamp)
    : channel_(std::move(channel)), blocking_waits_(blocking_waits), level_(level), longest_(longest),
      uncut_(run::eager_bytes(level)), rank_(rank), size_(size), stamp_(stamp) {}

Messages::~Messages() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (!blocking_waits_) listen();  // takes in bad news that nobody asked for
  forget_words();
  for (Word& word : words_) {  // the message outlives this object: its memory is never given back
    MPI_Request_free(&word.request);
    static_cast<void>(word.news.release());
  }
  // After a failure messages may still be under way, and the next one with this communicator's number or these tags would
  // receive them.
  if (!disturbed_ && heard_.why().empty() && channel_.give_back) channel_.give_back();
}

run::Transport::Ticket Messages::fresh(int from, std::size_t bytes) {
  if (free_.empty()) {
    operations_.emplace_back();
    free_.push_back(static_cast<Ticket>(operations_.size() - 1));
  }
  const Ticket ticket = free_.back();
  free_.pop_back();
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  operation.from = from;
  operation.bytes = bytes;
  operation.piece = std::clamp<std::size_t>(bytes <= uncut_ ? bytes : run::piece_bytes(level_, bytes), 1, longest_);
  operation.arrived = 0;
  operation.complete = 0;
  operation.code = MPI_SUCCESS;
  operation.other_size = false;
  operation.pieces = 0;
  return ticket;
}

MPI_Request& Messages::next_piece(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  if (operation.pieces++ == 0) operation.others.clear();
  else operation.others.push_back(MPI_REQUEST_NULL);
  return operation.request(operation.pieces - 1);
}

run::Transport::Ticket Messages::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  const Ticket ticket = fresh(-1, bytes);
  const auto* at = static_cast<const std::byte*>(data);
  const std::size_t piece = operations_[static_cast<std::size_t>(ticket)].piece;
  std::size_t sent = 0;
  do {
    const std::size_t now = std::min(piece, bytes - sent);
    check(MPI_Isend(at + sent, static_cast<int>(now), MPI_BYTE, place(to), tag_in_channel(tag), channel_.comm,
                    &next_piece(ticket)),
          "MPI_Isend");
    sent += now;
  } while (sent < bytes);
  return ticket;
}

run::Transport::Ticket Messages::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket = fresh(from, bytes);
  auto* at = static_cast<std::byte*>(data);
  const std::size_t piece = operations_[static_cast<std::size_t>(ticket)].piece;
  std::size_t got = 0;
  do {
    const std::size_t now = std::min(piece, bytes - got);
    check(MPI_Irecv(at + got, static_cast<int>(now), MPI_BYTE, place(from), tag_in_channel(tag), channel_.comm,
                    &next_piece(ticket)),
          "MPI_Irecv");
    got += now;
  } while (got < bytes);
  return ticket;
}

void Messages::count_piece(Operation& operation, int code, const MPI_Status& status) {
  operation.request(operation.complete) = MPI_REQUEST_NULL;  // libraries differ in whether they do so after an error
  ++operation.complete;
  if (code != MPI_SUCCESS) operation.code = code;
  if (operation.from < 0 || code != MPI_SUCCESS) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  const std::size_t expected = std::min(operation.piece, operation.bytes - operation.arrived);
  operation.arrived += static_cast<std::size_t>(count);
  if (static_cast<std::size_t>(count) != expected) operation.other_size = true;
}

/// Ends the first piece that is not complete; waits for it if it must.
void Messages::end_piece(Operation& operation) {
  MPI_Status status{};
  const int code = MPI_Wait(&operation.request(operation.complete), &status);
  count_piece(operation, code, status);
}

/// Ends it if it is there. The library polls its network once, and only if the piece is not complete: MPI_Test and its
/// like poll for what is complete, too, in MPICH.
bool Messages::piece_done(Operation& operation) {
  int flag = 0;
#ifdef OPEN_MPI
  MPI_Status status{};
  const int code = MPI_Test(&operation.request(operation.complete), &flag, &status);
  if (code == MPI_SUCCESS && flag == 0) return false;
  count_piece(operation, code, status);
#else
  const int code = MPI_Request_get_status(operation.request(operation.complete), &flag, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && flag == 0) return false;
  end_piece(operation);
#endif
  return true;
}

bool Messages::done(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  while (operation.complete < operation.pieces) {
    if (blocking_waits_ || !piece_done(operation)) return false;
    if (operation.code != MPI_SUCCESS || operation.other_size) break;  // further pieces may never come
  }
  if (operation.complete < operation.pieces) abandon(ticket);
  else free_.push_back(ticket);
  check(operation.code, "a message of a collective (ranks that pass different sizes?)");
  if (operation.other_size) {
    throw Error("rank {} expected a message of {} bytes from rank {} and got {}: all ranks must pass the same size",
                rank_, operation.bytes, operation.from, operation.arrived);
  }
  return true;
}

void Messages::wait(Ticket ticket) {
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  while (operation.complete < operation.pieces) end_piece(operation);
}

void Messages::sleep_until(double nanoseconds) {
  const double left = std::ceil(nanoseconds - clock());
  if (left <= 0) return;
  const double seconds = std::floor(left / 1e9);
  const timespec time{static_cast<time_t>(seconds), static_cast<long>(left - seconds * 1e9)};
  nanosleep(&time, nullptr);
}

void Messages::abandon(Ticket ticket) {
  disturbed_ = true;
  auto& operation = operations_[static_cast<std::size_t>(ticket)];
  const bool receives = operation.from >= 0;
  const auto each_open = [&](auto&& action) {
    for (std::uint32_t i = 0; i < operation.pieces; ++i) {
      if (operation.request(i) != MPI_REQUEST_NULL) action(operation.request(i));
    }
  };
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (receives) each_open([](MPI_Request& piece) { MPI_Cancel(&piece); });
  const double until = MPI_Wtime() + (blocking_waits_ ? 0 : receives ? 10.0 : 0.2);  // for all pieces together
  each_open([&](MPI_Request& piece) { settle(piece, until); });
  each_open([](MPI_Request& piece) { MPI_Request_free(&piece); });
  operation.pieces = 0;
  free_.push_back(ticket);
}

void Messages::tell_all(std::uint64_t first, std::uint64_t last, bool refusal, const std::string& why) {
  disturbed_ = true;
  if (blocking_waits_) return;
  // The messages outlive this call and perhaps this object: their memory is never given back.
  auto* news = new News{stamp_, refusal ? News::What::refusal : News::What::failure, first, last, {}, {}};
  std::memcpy(news->why, why.data(), std::min(why.size(), sizeof(news->why) - 1));
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Isend(news, sizeof(News), MPI_BYTE, place(r), tag_in_channel(kNewsTag), channel_.comm, &request) ==
        MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

void Messages::report(std::uint64_t first, std::uint64_t last, const std::string& why) {
  tell_all(first, last, false, why);
}

void Messages::refuse(std::uint64_t number, const std::string& why) { tell_all(number, number, true, why); }

void Messages::listen() {
  int flag = 0;
  MPI_Status status{};
  const int tag = tag_in_channel(kNewsTag);
  while (MPI_Iprobe(MPI_ANY_SOURCE, tag, channel_.comm, &flag, &status) == MPI_SUCCESS && flag != 0) {
    News news{};
    MPI_Recv(&news, sizeof news, MPI_BYTE, status.MPI_SOURCE, tag, channel_.comm, MPI_STATUS_IGNORE);
    if (news.stamp != stamp_) continue;
    if (news.what == News::What::call) told_.push_back({rank_at(status.MPI_SOURCE), news.first, news.call});
    else if (news.what == News::What::refusal) heard_.refuse(news.first, news.why);
    else heard_.report(news.first, news.last, news.why);
  }
}

int Messages::rank_at(int place) const {
  const auto& members = channel_.members;
  return members.empty() ? place : static_cast<int>(std::find(members.begin(), members.end(), place) - members.begin());
}

void Messages::forget_words() {
  std::erase_if(words_, [](Word& word) {
    int flag = 0;
    return MPI_Test(&word.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag != 0;
  });
}

void Messages::tell(int to, std::uint64_t number, const run::Signature& call) {
  if (blocking_waits_) return;
  forget_words();
  Word word{std::make_unique<News>(News{stamp_, News::What::call, number, number, call, {}})};
  if (MPI_Isend(word.news.get(), kWordBytes, MPI_BYTE, place(to), tag_in_channel(kNewsTag), channel_.comm,
                &word.request) != MPI_SUCCESS)
    return;
  words_.push_back(std::move(word));
}

std::optional<run::Told> Messages::hear() {
  if (blocking_waits_) return std::nullopt;
  if (told_.empty()) listen();
  if (told_.empty()) return std::nullopt;
  const run::Told first = told_.front();
  told_.pop_front();
  return first;
}

bool Messages::failed(std::uint64_t number, const std::vector<std::uint64_t>& own) {
  if (blocking_waits_) return false;
  listen();
  return heard_.concerns(number, own);
}

}  // namespace chasqui::mpi
