// SPDX-License-Identifier: MIT
#include "group/meeting.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/reserve.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

constexpr char kMagic[8] = {'c', 'h', 'a', 's', 'q', 'u', 'i', '2'};
constexpr double kSlice = 0.05;         ///< seconds between two looks at what else may have happened
constexpr double kTogether = 30;        ///< seconds for what is left to do once all are there
constexpr std::size_t kVisitors = 256;  ///< connections that may be half way in; of more the oldest is turned away

/// What rank 0 says to whoever connects.
struct Challenge {
  char magic[8];
  Nonce nonce;
  std::uint8_t wants_proof;
};
/// What the other side answers.
struct Answer {
  char magic[8];
  Nonce nonce;
  Proof proof;
  std::int32_t rank, size;
};
struct Reply {
  enum class Verdict : std::uint8_t { refused, welcome } verdict;
  Proof proof;     ///< that rank 0 knows the secret, too
  char text[240];  ///< refused: why
};
/// Before everything that rank 0 sends afterwards.
struct Header {
  std::uint32_t failed;  ///< what follows is the text of an error
  std::uint32_t bytes;
};

std::string proves(const char* side, int rank, int size) { return fmt::format("{} {}/{}", side, rank, size); }

void copy_text(const std::string& from, char* to, std::size_t room) {
  const std::size_t length = std::min(from.size(), room - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

/// Somebody who has connected to rank 0 and is not known yet.
struct Visitor {
  Socket socket;
  Nonce nonce{};
  Answer answer{};
  std::size_t came = 0;  ///< bytes of the answer

  /// What there is to read. False: it is gone.
  bool read() {
    const ssize_t bytes = ::read(socket.file(), reinterpret_cast<char*>(&answer) + came, sizeof answer - came);
    if (bytes > 0) came += static_cast<std::size_t>(bytes);
    return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
  }
};

/// Rank 0 until all are there.
class Reception {
 public:
  Reception(const MeetingPlace& place, Socket listener, std::vector<Socket>& others)
      : place_(place), size_(static_cast<int>(others.size())), others_(others), listener_(std::move(listener)) {}

  /// True when all are there.
  bool step() {
    std::vector<pollfd> watched = {{listener_.file(), POLLIN, 0}};
    for (const Visitor& visitor : visitors_) watched.push_back({visitor.socket.file(), POLLIN, 0});
    for (const Socket& other : others_) watched.push_back({other.file(), POLLRDHUP, 0});
    if (poll(watched.data(), watched.size(), static_cast<int>(kSlice * 1e3)) <= 0) return false;
    const auto news = [&](std::size_t i) { return watched[i].revents != 0; };
    const std::size_t here = visitors_.size();
    for (std::size_t r = 1; r < others_.size(); ++r) {
      if (others_[r].open() && news(1 + here + r))
        throw Error("{} has ended while others were still on their way to {}", place_.called(static_cast<int>(r)),
                    place_.address.text);
    }
    for (std::size_t i = here; i-- > 0;) {
      if (news(1 + i) && !advance(visitors_[i])) visitors_.erase(visitors_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (news(0)) let_in();
    return missing().empty();
  }
  std::string missing() const {
    std::string list;
    for (std::size_t r = 1; r < others_.size(); ++r) {
      if (!others_[r].open()) list += fmt::format("{}{}", list.empty() ? "" : ", ", r);
    }
    return list;
  }
  /// What is known of why somebody is missing.
  std::string remarks() const {
    std::string text;
    if (strangers_ != 0)
      text += fmt::format("; {} who came did not know the secret, or were another user's", strangers_);
    if (outside_) text += "; rank 0 had no descriptor left to let others in: raise their number there (ulimit -n)";
    return text;
  }

 private:
  void let_in() {
    while (true) {
      Socket came = accept_from(listener_);
      if (!came.open()) return look_why(errno);
      Visitor visitor{.socket = std::move(came), .nonce = fresh_nonce()};
      if (place_.address.local() && !visitor.socket.same_user()) {
        ++strangers_;
        continue;
      }
      Challenge challenge{{}, visitor.nonce, static_cast<std::uint8_t>(needs_proof() ? 1 : 0)};
      std::memcpy(challenge.magic, kMagic, sizeof kMagic);
      if (!visitor.socket.send(&challenge, sizeof challenge, Deadline(0))) continue;
      if (visitors_.size() >= kVisitors) visitors_.erase(visitors_.begin());
      visitors_.push_back(std::move(visitor));
    }
  }
  /// Who has no descriptor to be let in by waits outside, and is found there again at once.
  void look_why(int error) {
    if (error != EMFILE && error != ENFILE) return;
    outside_ = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(kSlice));
  }
  bool needs_proof() const { return !place_.secret.empty(); }

  /// False: it has gone, or was turned away, or has come in.
  bool advance(Visitor& visitor) {
    if (!visitor.read()) return false;
    if (visitor.came < sizeof(Answer)) return true;
    const Answer& answer = visitor.answer;
    Reply reply{};
    const bool known = std::memcmp(answer.magic, kMagic, sizeof kMagic) == 0;
    const auto proof = [&](const char* side) {
      return prove(place_.secret, proves(side, answer.rank, answer.size), visitor.nonce, answer.nonce);
    };
    if (!known || (needs_proof() && !equal(answer.proof, proof("client")))) {
      ++strangers_;
      copy_text(known ? "the secret is not the one of rank 0: set the same CHASQUI_SECRET everywhere"
                      : "rank 0 has another version of Chasqui",
                reply.text, sizeof reply.text);
      visitor.socket.send(&reply, sizeof reply, Deadline(0));
      return false;
    }
    if (needs_proof()) reply.proof = proof("server");
    const std::string wrong = objection(answer);
    reply.verdict = wrong.empty() ? Reply::Verdict::welcome : Reply::Verdict::refused;
    copy_text(wrong, reply.text, sizeof reply.text);
    const bool sent = visitor.socket.send(&reply, sizeof reply, Deadline(0));
    if (!wrong.empty()) throw Error("{}", wrong);
    if (sent) others_[static_cast<std::size_t>(answer.rank)] = std::move(visitor.socket);
    return false;
  }

  std::string objection(const Answer& answer) const {
    if (answer.size != size_)
      return fmt::format("rank {} says that there are {} ranks, rank 0 that there are {}", answer.rank, answer.size,
                         size_);
    if (answer.rank < 1 || answer.rank >= size_)
      return fmt::format("a rank {} came to a group of {} ranks that has its rank 0", answer.rank, size_);
    if (others_[static_cast<std::size_t>(answer.rank)].open())
      return fmt::format("two processes say that they are rank {}", answer.rank);
    return {};
  }

  const MeetingPlace& place_;
  int size_;
  std::vector<Socket>& others_;
  Socket listener_;
  std::vector<Visitor> visitors_;
  int strangers_ = 0;
  bool outside_ = false;  ///< somebody stood there, and could not be let in
};

}  // namespace

std::string MeetingPlace::called(int rank) const {
  const std::string here = fmt::format("rank {}", rank);
  return names.empty()
             ? here
             : fmt::format("{} of this part, rank {} of the whole", here, names[static_cast<std::size_t>(rank)]);
}

Meeting::Meeting(int rank, int size, MeetingPlace place)
    : NodeRanks(rank, size), place_(std::move(place)), deadline_(place_.timeout) {
  check_secret(place_.secret);
  if (size == 1) return;
  if (!place_.address.local() && place_.secret.empty()) {
    throw Error("rendezvous {}: anybody can connect there: set a secret (CHASQUI_SECRET)", place_.address.text);
  }
  if (rank == 0) receive_all();
  else go_there();
  deadline_ = Deadline(std::max(kTogether, place_.timeout));
}

void Meeting::receive_all() {
  others_.resize(static_cast<std::size_t>(size()));
  Socket listener = place_.listener.open() ? std::move(place_.listener) : listen_at(place_.address);
  const struct Forget {
    ~Forget() {
      if (path != nullptr) unlink(path->c_str());
    }
    const std::string* path;
  } at_the_end{place_.address.kind == Address::Kind::path ? &place_.address.where : nullptr};
  Reception reception(place_, std::move(listener), others_);
  try {
    while (!reception.step()) {
      if (place_.look) place_.look();
      if (!deadline_.over()) continue;
      throw Error("rank {} of {} did not come to {} within {} s{}", reception.missing(), size(), place_.address.text,
                  place_.timeout, reception.remarks());
    }
  } catch (const std::exception& error) {
    fail_all(error.what());
  }
}

Socket Meeting::reach() {
  for (int tries = 0;; ++tries) {
    if (Socket there = connect_to(place_.address); there.open()) return there;
    if (place_.look) place_.look();
    if (deadline_.over()) {
      throw Error("rank {}: rank 0 did not come to {} within {} s", rank(), place_.address.text, place_.timeout);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(1 + tries, 50)));
  }
}

/// False: the connection has ended. Throws what it was refused for.
bool Meeting::present(const Socket& there) {
  const std::string& secret = place_.secret;
  Challenge challenge{};
  if (!there.receive(&challenge, sizeof challenge, deadline_)) return false;
  if (std::memcmp(challenge.magic, kMagic, sizeof kMagic) != 0)
    throw Error("rendezvous {}: something else than rank 0 of this group listens there", place_.address.text);
  if (challenge.wants_proof != 0 && secret.empty())
    throw Error("rendezvous {}: rank 0 asks for a secret: set CHASQUI_SECRET", place_.address.text);
  Answer answer{{}, fresh_nonce(), {}, rank(), size()};
  std::memcpy(answer.magic, kMagic, sizeof kMagic);
  if (!secret.empty()) answer.proof = prove(secret, proves("client", rank(), size()), challenge.nonce, answer.nonce);
  Reply reply{};
  if (!there.send(&answer, sizeof answer, deadline_) || !there.receive(&reply, sizeof reply, deadline_)) return false;
  reply.text[sizeof reply.text - 1] = '\0';
  if (reply.verdict == Reply::Verdict::refused)
    throw Error("rank {}: turned away at {}: {}", rank(), place_.address.text, reply.text);
  if (!secret.empty() &&
      !equal(reply.proof, prove(secret, proves("server", rank(), size()), challenge.nonce, answer.nonce)))
    throw Error("rendezvous {}: who listens there does not know the secret", place_.address.text);
  return true;
}

void Meeting::go_there() {
  others_.resize(1);
  for (;;) {
    Socket there = reach();
    if (place_.address.local() && !there.same_user())
      throw Error("rendezvous {}: another user's process listens there: take another name", place_.address.text);
    if (present(there)) {
      others_[0] = std::move(there);
      return;
    }
    if (deadline_.over())
      throw Error("rank {}: rank 0 did not answer at {} within {} s", rank(), place_.address.text, place_.timeout);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

std::string Meeting::own_host() const {
  if (place_.address.local()) return "127.0.0.1";
  return rank() == 0 ? place_.address.where : others_[0].host();
}

void Meeting::fail_all(const std::string& why) {
  const Header header{1, static_cast<std::uint32_t>(why.size())};
  for (const Socket& other : others_) {
    if (!other.open()) continue;
    if (other.send(&header, sizeof header, Deadline(0))) other.send(why.data(), why.size(), Deadline(0));
  }
  throw Error("{}", why);
}

void Meeting::say_to_all(const void* data, std::size_t bytes) {
  const Header header{0, static_cast<std::uint32_t>(bytes)};
  for (int r = 1; r < size(); ++r) {
    const Socket& other = others_[static_cast<std::size_t>(r)];
    check(other.send(&header, sizeof header, deadline_) && other.send(data, bytes, deadline_), r);
  }
}

void Meeting::hear_first(void* data, std::size_t bytes) {
  Header header{};
  // Who came early waits for those who come late: as long as rank 0 does.
  const Deadline patient(place_.timeout + kTogether);
  check(others_[0].receive(&header, sizeof header, patient), 0);
  if (header.failed != 0) {
    std::string why(std::min<std::size_t>(header.bytes, 4096), '\0');
    check(others_[0].receive(why.data(), why.size(), deadline_), 0);
    throw Error("{}", why);
  }
  check(header.bytes == bytes && others_[0].receive(data, bytes, deadline_), 0);
}

void Meeting::check(bool went_well, int other) const {
  if (went_well) return;
  const std::string why = fmt::format("{} has ended, or did not answer in time, while the group came together at {}",
                                      place_.called(other), place_.address.text);
  if (rank() == 0) const_cast<Meeting*>(this)->fail_all(why);
  throw Error("{}", why);
}

void Meeting::gather_bytes(const void* mine, std::size_t bytes, void* all) {
  if (rank() != 0) {
    check(others_[0].send(mine, bytes, deadline_), 0);
    return hear_first(all, bytes * static_cast<std::size_t>(size()));
  }
  std::memcpy(all, mine, bytes);
  for (int r = 1; r < size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    check(others_[at].receive(static_cast<std::byte*>(all) + at * bytes, bytes, deadline_), r);
  }
  say_to_all(all, bytes * static_cast<std::size_t>(size()));
}

int Meeting::most(int mine) {
  const auto all = gather(&mine);
  return *std::max_element(all.begin(), all.end());
}

int Meeting::open_memory(std::size_t bytes) {
  int file = -1;
  if (rank() != 0) {
    hear_first(nullptr, 0);
    check(others_[0].receive_descriptor(file, deadline_), 0);
    return file;
  }
  if (bytes != 0) file = memfd_create("chasqui", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file >= 0 && (reserve(file, 0, bytes) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)) {
    close(file);
    file = -1;
  }
  Socket kept(file);
  say_to_all(nullptr, 0);
  for (int r = 1; r < size(); ++r) check(others_[static_cast<std::size_t>(r)].send_descriptor(file, deadline_), r);
  return kept.release();
}

std::string Meeting::text_of_first(const std::string& text) {
  const std::uint64_t length = gather(std::initializer_list<std::uint64_t>{text.size()}.begin()).front();
  std::string all(length, '\0');
  if (rank() == 0) say_to_all(text.data(), length);
  else hear_first(all.data(), length);
  return rank() == 0 ? text : all;
}

}  // namespace chasqui::group
