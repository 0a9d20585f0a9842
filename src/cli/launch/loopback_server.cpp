// SPDX-License-Identifier: MIT
#include "cli/launch/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kLargestHead = 8192;
constexpr auto kSlowReader = 120s;  ///< a browser on a crowded machine
constexpr std::size_t kMostConnections = 16;

std::string with_status(const std::string& status, const std::string& type, const std::string& body, bool head_only) {
  return fmt::format(
             "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: "
             "no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n",
             status, type, body.size()) +
         (head_only ? "" : body);
}

/// Until something can be done or the time is over.
bool ready(int client, short what, Clock::time_point deadline) {
  pollfd wanted{client, what, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 && ::poll(&wanted, 1, static_cast<int>(left)) > 0;
}

/// The deadline is the whole head's: bytes that come one by one do not prolong it.
std::string read_head(int client, Clock::time_point deadline) {
  std::string head;
  char buffer[1024];
  while (head.size() < kLargestHead && head.find("\r\n\r\n") == std::string::npos) {
    if (!ready(client, POLLIN, deadline)) return {};
    const ssize_t got = ::recv(client, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got <= 0) break;
    head.append(buffer, static_cast<std::size_t>(got));
  }
  return head;
}

void send_all(int client, const std::string& text, Clock::time_point deadline) {
  for (std::size_t sent = 0; sent < text.size() && ready(client, POLLOUT, deadline);) {
    const ssize_t n = ::send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) return;  // the client went away
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace

std::string http_answer(const std::string& head, const std::string& page) {
  if (head.find("\r\n\r\n") == std::string::npos)
    return with_status("400 Bad Request", "text/plain", "bad request\n", false);
  std::istringstream words(head);
  std::string method;
  std::string target;
  words >> method >> target;
  const bool head_only = method == "HEAD";
  if (method != "GET" && !head_only) return with_status("405 Method Not Allowed", "text/plain", "only GET\n", false);
  target = target.substr(0, target.find('?'));
  if (target != "/" && target != "/explorer.html")
    return with_status("404 Not Found", "text/plain", "not found\n", head_only);
  return with_status("200 OK", "text/html; charset=utf-8", page, head_only);
}

LoopbackServer::LoopbackServer(std::string page, std::uint16_t port, int patience)
    : page_(std::move(page)), patience_(patience) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) throw Error("no socket: {}; the page can also be opened as a file", std::strerror(errno));
  const int yes = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    const std::string why = std::strerror(errno);
    ::close(listener_);
    throw Error("--port {}: {}: use another one, or 0 for any", port, why);
  }
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() {
  ::close(listener_);
  while (!connections_.empty()) end(connections_.begin());
}

/// Whatever its thread waits for is over now.
void LoopbackServer::end(std::list<Connection>::iterator connection) {
  connection->thread.join();
  ::close(connection->client);
  connections_.erase(connection);
}

void LoopbackServer::make_place() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    const auto next = std::next(connection);
    if (connection->done) end(connection);
    connection = next;
  }
  if (connections_.size() < kMostConnections) return;
  ::shutdown(connections_.front().client, SHUT_RDWR);
  end(connections_.begin());
}

int LoopbackServer::accept_one() {
  for (;;) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0) return client;
    switch (errno) {
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM:  // connections that end will make room
        make_place();
        std::this_thread::sleep_for(50ms);
        break;
      case EINTR:
      case EAGAIN:
      case EPROTO:
      case ECONNABORTED: break;
      default: throw Error("no more connections: {}; the page can also be opened as a file", std::strerror(errno));
    }
  }
}

void LoopbackServer::serve_one() {
  const int client = accept_one();
  make_place();
  Connection& connection = connections_.emplace_back();
  connection.client = client;
  connection.thread = std::thread([this, client, &connection] {
    // Browsers open connections in advance. One that never asks is closed without a word: an answer to no question
    // would be taken for the answer to a question that crosses it, and the page would be "bad request".
    const std::string head = read_head(client, Clock::now() + std::chrono::seconds(patience_));
    if (!head.empty()) send_all(client, http_answer(head, page_), Clock::now() + kSlowReader);
    ::shutdown(client, SHUT_RDWR);
    connection.done = true;
  });
}

std::string explorer_page() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return "explorer.html";
  return (program.parent_path().parent_path() / "share" / "chasqui" / "explorer.html").string();
}

}  // namespace chasqui::cli
