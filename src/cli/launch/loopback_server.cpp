// SPDX-License-Identifier: MIT
#include "cli/launch/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::cli {
namespace {

constexpr std::size_t kLargestHead = 8192;
constexpr int kSlowReader = 120;  // seconds: a browser on a crowded machine
constexpr std::size_t kMostConnections = 16;

std::string with_status(const std::string& status, const std::string& type, const std::string& body, bool head_only) {
  return fmt::format(
             "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: "
             "no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n",
             status, type, body.size()) +
         (head_only ? "" : body);
}

std::string read_head(int client) {
  std::string head;
  char buffer[1024];
  while (head.size() < kLargestHead && head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(client, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    head.append(buffer, static_cast<std::size_t>(got));
  }
  return head;
}

void send_all(int client, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(client, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;  // the client went away, or is too slow
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
  if (listener_ < 0) throw Error("no socket: {}", std::strerror(errno));
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
  for (Connection& connection : connections_) connection.thread.join();
}

void LoopbackServer::forget_finished() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (connection->done) {
      connection->thread.join();
      connection = connections_.erase(connection);
    } else {
      ++connection;
    }
  }
}

void LoopbackServer::serve_one() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const timeval patience{patience_, 0}, reader{kSlowReader, 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &reader, sizeof reader);
  forget_finished();
  if (connections_.size() >= kMostConnections) {
    ::close(client);
    return;
  }
  Connection& connection = connections_.emplace_back();
  connection.thread = std::thread([this, client, &connection] {
    // Browsers open connections in advance. One that never asks is closed without a word: an answer to no question
    // would be taken for the answer to a question that crosses it, and the page would be "bad request".
    if (const std::string head = read_head(client); !head.empty()) send_all(client, http_answer(head, page_));
    ::close(client);
    connection.done = true;
  });
}

}  // namespace chasqui::cli
