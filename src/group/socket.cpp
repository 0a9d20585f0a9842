// SPDX-License-Identifier: MIT
#include "group/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

constexpr int kWaiting = 1024;  ///< connections that wait to be accepted
constexpr int kTries = 100;     ///< to take a path that others leave
constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

struct Place {
  union {
    sockaddr any;
    sockaddr_un local;
    sockaddr_in internet;
  };
  socklen_t length = 0;
};

Place place_of(const Address& address) {
  Place place;
  std::memset(&place.local, 0, sizeof place.local);
  if (address.kind == Address::Kind::tcp) {
    place.internet.sin_family = AF_INET;
    place.internet.sin_port = htons(static_cast<std::uint16_t>(address.number));
    inet_pton(AF_INET, address.where.c_str(), &place.internet.sin_addr);
    place.length = sizeof place.internet;
    return place;
  }
  if (address.kind == Address::Kind::descriptor) {
    place.length = sizeof place.local;
    if (getsockname(address.number, &place.any, &place.length) != 0 || place.any.sa_family != AF_UNIX) {
      throw Error(
          "rendezvous {}: no local socket was inherited under this number: keep it open in the programs that are "
          "started (no FD_CLOEXEC)",
          address.text);
    }
    return place;
  }
  place.local.sun_family = AF_UNIX;
  const bool named = address.kind == Address::Kind::name;
  const std::size_t room = sizeof place.local.sun_path - 1;
  if (address.where.size() > room)
    throw Error("rendezvous {}: longer than the {} bytes of a local address", address.text, room);
  std::memcpy(place.local.sun_path + (named ? 1 : 0), address.where.data(), address.where.size());
  place.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.where.size() + 1);
  return place;
}

/// Takes away a socket that a killed rank 0 has left there, and that nobody listens at. True: the path is free now, or became free meanwhile.
bool made_free(const Address& address, const Place& place) {
  struct stat found {};
  if (lstat(address.where.c_str(), &found) != 0) return errno == ENOENT;
  if (!S_ISSOCK(found.st_mode) || found.st_uid != geteuid()) return false;
  const Socket probe(socket(AF_UNIX, kType, 0));
  if (connect(probe.file(), &place.any, place.length) == 0) return false;
  if (errno == ENOENT) return true;
  return errno == ECONNREFUSED && (unlink(address.where.c_str()) == 0 || errno == ENOENT);
}

/// Short messages that follow each other do not wait for an answer.
void send_at_once(const Socket& socket) {
  const int yes = 1;
  setsockopt(socket.file(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/// A host's name becomes its address. Throws an Error for one that has none.
bool internet_address(Address& address) {
  in_addr found{};
  if (address.where.empty()) return false;
  if (inet_pton(AF_INET, address.where.c_str(), &found) != 1) {
    addrinfo wanted{}, *list = nullptr;
    wanted.ai_family = AF_INET;
    const int code = getaddrinfo(address.where.c_str(), nullptr, &wanted, &list);
    if (code != 0) throw Error("rendezvous {}: {}: {}", address.text, address.where, gai_strerror(code));
    found = reinterpret_cast<const sockaddr_in*>(list->ai_addr)->sin_addr;
    freeaddrinfo(list);
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &found, text, sizeof text);
    if (ntohl(found.s_addr) >> 24 == 127 && address.where != "localhost")
      throw Error("rendezvous {}: {} is {} on this host, which no other host reaches: give the address itself",
                  address.text, address.where, text);
    address.where = text;
  }
  if (found.s_addr == htonl(INADDR_ANY))
    throw Error("rendezvous {}: name the address of rank 0's host: it listens there and at no other", address.text);
  return true;
}

[[noreturn]] void fail(const Address& address, const char* what) {
  throw Error("rendezvous {}: {}: {}", address.text, what, std::strerror(errno));
}

}  // namespace

Socket::~Socket() {
  if (file_ >= 0) close(file_);
}

bool wait_for(int file, bool reading, double seconds) {
  const Deadline deadline(seconds);
  pollfd one{file, static_cast<short>(reading ? POLLIN : POLLOUT), 0};
  int found = 0;
  do {  // a signal interrupts it, whatever its handler was installed with
    found = poll(&one, 1, static_cast<int>(std::clamp(deadline.left() * 1e3 + 1, 0.0, 1e8)));
  } while (found < 0 && errno == EINTR && !deadline.over());
  return found > 0;
}

bool Socket::send(const void* data, std::size_t bytes, const Deadline& deadline) const {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(file_, from, bytes, MSG_NOSIGNAL);
    if (sent > 0) {
      from += sent;
      bytes -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      if (deadline.over() || !wait_for(file_, false, deadline.left())) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Socket::receive(void* data, std::size_t bytes, const Deadline& deadline) const {
  auto* to = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const ssize_t came = recv(file_, to, bytes, 0);
    if (came > 0) {
      to += came;
      bytes -= static_cast<std::size_t>(came);
    } else if (came < 0 && errno == EAGAIN) {
      if (deadline.over() || !wait_for(file_, true, deadline.left())) return false;
    } else if (came == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

namespace {

/// One byte with room for a descriptor beside it.
struct Parcel {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char beside[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{nullptr, 0, &part, 1, beside, sizeof beside, 0};
};

}  // namespace

bool Socket::send_descriptor(int descriptor, const Deadline& deadline) const {
  Parcel parcel;
  if (descriptor < 0) {
    parcel.message.msg_control = nullptr;
    parcel.message.msg_controllen = 0;
  } else {
    cmsghdr* const header = CMSG_FIRSTHDR(&parcel.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  for (;;) {
    if (sendmsg(file_, &parcel.message, MSG_NOSIGNAL) == 1) return true;
    if (errno == EINTR) continue;
    if (errno != EAGAIN || deadline.over() || !wait_for(file_, false, deadline.left())) return false;
  }
}

bool Socket::receive_descriptor(int& descriptor, const Deadline& deadline) const {
  descriptor = -1;
  for (;;) {
    Parcel parcel;
    const ssize_t came = recvmsg(file_, &parcel.message, MSG_CMSG_CLOEXEC);
    if (came == 1) {
      const cmsghdr* const header = CMSG_FIRSTHDR(&parcel.message);
      if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
      return true;
    }
    if (came < 0 && errno == EINTR) continue;
    if (came == 0 || errno != EAGAIN || deadline.over() || !wait_for(file_, true, deadline.left())) return false;
  }
}

bool Socket::same_user() const {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(file_, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

std::string Socket::host() const {
  sockaddr_in own{};
  socklen_t length = sizeof own;
  char text[INET_ADDRSTRLEN] = {};
  getsockname(file_, reinterpret_cast<sockaddr*>(&own), &length);
  inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
  return text;
}

Address parse_address(const std::string& text) {
  const auto rest = [&](const char* prefix) -> const char* {
    const std::size_t length = std::strlen(prefix);
    return text.compare(0, length, prefix) == 0 ? text.c_str() + length : nullptr;
  };
  const auto number = [](const std::string& digits, int most) {
    char* end = nullptr;
    const long value = std::strtol(digits.c_str(), &end, 10);
    return digits.empty() || *end != '\0' || value < 0 || value > most ? -1 : static_cast<int>(value);
  };
  Address address{.text = text, .where = {}};
  if (const char* name = rest("unix:@")) {
    address.kind = Address::Kind::name;
    address.where = name;
    if (!address.where.empty()) return address;
  } else if (const char* descriptor = rest("fd:")) {
    address.kind = Address::Kind::descriptor;
    address.number = number(descriptor, 1 << 20);
    if (address.number >= 0) return address;
  } else if (const char* host = rest("tcp://")) {
    address.kind = Address::Kind::tcp;
    const std::string both = host;
    const std::size_t colon = both.rfind(':');
    address.where = both.substr(0, colon);
    address.number = colon == std::string::npos ? -1 : number(both.substr(colon + 1), 65535);
    if (address.number > 0 && internet_address(address)) return address;
  } else if (!text.empty() && text.find("://") == std::string::npos) {
    const char* path = rest("file:");
    address.where = path != nullptr ? path : text;
    if (!address.where.empty()) return address;
  }
  throw Error("rendezvous '{}': expected /a/path, unix:@name, fd:7 or tcp://127.0.0.1:4711", text);
}

Socket listen_at(const Address& address) {
  if (address.kind == Address::Kind::descriptor) {
    place_of(address);
    const int own = fcntl(address.number, F_DUPFD_CLOEXEC, 3);
    if (own < 0) fail(address, "cannot be used");
    fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK);
    return Socket(own);
  }
  const Place place = place_of(address);
  Socket listener(socket(place.any.sa_family, kType, 0));
  if (!listener.open()) fail(address, "no socket");
  if (!address.local()) {
    const int yes = 1;
    setsockopt(listener.file(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    send_at_once(listener);  // what it accepts inherits this
  }
  const bool file = address.kind == Address::Kind::path;
  if (file) fchmod(listener.file(), 0600);  // what bind() makes is nobody else's from the beginning
  int error = 0;
  const auto in_use = [&] {
    error = bind(listener.file(), &place.any, place.length) == 0 ? 0 : errno;
    return error == EADDRINUSE;
  };
  for (int tries = 0; in_use() && file && tries < kTries && made_free(address, place);) ++tries;
  if (error == EADDRINUSE) {
    throw Error(
        "rendezvous {}: is in use: another group meets there, or something else has this name; take another one",
        address.text);
  }
  errno = error;
  if (error != 0) fail(address, "rank 0 cannot listen there");
  if (listen(listener.file(), kWaiting) != 0) fail(address, "rank 0 cannot listen there");
  return listener;
}

Socket listen_anywhere_at(Address& address) {
  Socket listener = listen_at(address);
  sockaddr_in found{};
  socklen_t length = sizeof found;
  if (getsockname(listener.file(), reinterpret_cast<sockaddr*>(&found), &length) != 0) fail(address, "no port");
  address.number = ntohs(found.sin_port);
  return listener;
}

Socket listen_anywhere(std::string& name) {
  Socket listener(socket(AF_UNIX, kType, 0));
  Place place;
  std::memset(&place.local, 0, sizeof place.local);
  place.local.sun_family = AF_UNIX;
  socklen_t length = sizeof place.local;
  if (!listener.open() || bind(listener.file(), &place.any, sizeof(sa_family_t)) != 0 ||
      listen(listener.file(), kWaiting) != 0 || getsockname(listener.file(), &place.any, &length) != 0) {
    throw Error("no local socket could be opened: {}", std::strerror(errno));
  }
  name.assign(place.local.sun_path + 1, length - offsetof(sockaddr_un, sun_path) - 1);
  return listener;
}

Socket connect_to(const Address& address) {
  const Place place = place_of(address);
  Socket to(socket(place.any.sa_family, kType, 0));
  if (!to.open()) fail(address, "no socket");
  if (!address.local()) send_at_once(to);
  if (connect(to.file(), &place.any, place.length) == 0) return to;
  if (errno == EINPROGRESS) {
    int error = 0;
    socklen_t length = sizeof error;
    if (wait_for(to.file(), false, 1) && getsockopt(to.file(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 &&
        error == 0)
      return to;
    return Socket();
  }
  if (errno == ECONNREFUSED || errno == ENOENT || errno == EAGAIN || errno == EINTR || errno == ECONNRESET)
    return Socket();
  fail(address, "cannot be reached");
}

Socket accept_from(const Socket& listener) {
  return Socket(accept4(listener.file(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace chasqui::group
