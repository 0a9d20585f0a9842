// SPDX-License-Identifier: MIT
// One file over HTTP on the loopback interface: small requests only, few connections at a time, nobody waits for ever.
// Browsers open connections in advance and leave them idle, so each connection has a thread of its own. Who comes when all
// places are taken gets the place of whoever came first.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <thread>

namespace chasqui::cli {

class LoopbackServer {
 public:
  /// Listens on 127.0.0.1. port 0: any free one. Throws Error if the port is taken. A client that has not asked
  /// after `patience` seconds is given up.
  LoopbackServer(std::string page, std::uint16_t port, int patience = 5);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::uint16_t port() const { return port_; }

  /// Accepts one connection, and waits where the system has no descriptor for it; it is answered in the background. GET and HEAD of "/" or "/explorer.html": the page; anything else: 404, 405 or 400.
  void serve_one();

 private:
  struct Connection {
    int client = -1;
    std::thread thread;
    std::atomic<bool> done{false};
  };
  int accept_one();
  void make_place();
  void end(std::list<Connection>::iterator connection);

  std::string page_;
  int patience_;
  std::list<Connection> connections_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
};

/// What the server says to the head of a request; `page` is the body of a good one. Pure, for tests.
std::string http_answer(const std::string& head, const std::string& page);

/// Where the explorer's page lies beside this program: so it is in the build tree and when installed.
std::string explorer_page();

}  // namespace chasqui::cli
