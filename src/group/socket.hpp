// SPDX-License-Identifier: MIT
// A socket with a deadline for everything, and where sockets are: the addresses of a rendezvous.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace chasqui::group {

/// The moment by which something must have happened.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  double left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }  ///< seconds
  bool over() const { return left() <= 0; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// A descriptor that is closed with its owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  ~Socket();
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  int file() const { return file_; }
  bool open() const { return file_ >= 0; }
  int release() { return std::exchange(file_, -1); }

  /// All of it, or false: the other end is gone, or it took too long.
  bool send(const void* data, std::size_t bytes, const Deadline& deadline) const;
  bool receive(void* data, std::size_t bytes, const Deadline& deadline) const;
  /// A byte, and with it a descriptor, which is -1 for none.
  bool send_descriptor(int descriptor, const Deadline& deadline) const;
  bool receive_descriptor(int& descriptor, const Deadline& deadline) const;
  /// Is the process at the other end of a local socket one of this user's?
  bool same_user() const;
  /// The address of this end of an internet socket.
  std::string host() const;

 private:
  int file_ = -1;
};

/// Waits until the descriptor can be read (or written); false when `seconds` are over.
bool wait_for(int file, bool reading, double seconds);

/// Where rank 0 listens.
struct Address {
  enum class Kind { path, name, descriptor, tcp };
  Kind kind = Kind::path;
  std::string text;   ///< as it was given
  std::string where;  ///< path, name, or host
  int number = 0;     ///< descriptor, or port
  bool local() const { return kind != Kind::tcp; }
};
Address parse_address(const std::string& text);  ///< throws an Error that names the forms that there are

/// Listens there and nowhere else. Throws an Error.
Socket listen_at(const Address& address);
/// At a port of that host that the kernel chooses, which is filled in.
Socket listen_anywhere_at(Address& address);
/// A local socket under a name that the kernel chooses, which is returned.
Socket listen_anywhere(std::string& name);
/// One try. Not open: nobody listens there yet. Throws an Error where trying again is of no use.
Socket connect_to(const Address& address);
/// A waiting connection, if there is one, and a descriptor for it: errno says which is missing.
Socket accept_from(const Socket& listener);

}  // namespace chasqui::group
