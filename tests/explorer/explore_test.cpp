// SPDX-License-Identifier: MIT
// `chasqui explore`: the page over loopback, nothing else.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "cli/launch/loopback_server.hpp"

namespace chasqui::cli {
namespace {

TEST(Explore, AnswersOnlyForThePage) {
  const auto status = [](const std::string& head) { return http_answer(head, "PAGE").substr(9, 3); };
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "200");
  EXPECT_EQ(status("GET /explorer.html?x HTTP/1.1\r\n\r\n"), "200");
  EXPECT_EQ(status("GET /../etc/passwd HTTP/1.1\r\n\r\n"), "404");
  EXPECT_EQ(status("POST / HTTP/1.1\r\n\r\n"), "405");
  EXPECT_EQ(status("GET / HTTP/1.1"), "400");
  EXPECT_EQ(status(""), "400");
  EXPECT_EQ(status("\r\n\r\n"), "405");
  EXPECT_TRUE(http_answer("GET / HTTP/1.1\r\n\r\n", "PAGE").ends_with("\r\n\r\nPAGE"));
  EXPECT_TRUE(http_answer("HEAD / HTTP/1.1\r\n\r\n", "PAGE").ends_with("\r\n\r\n"));
}

/// -1: no connection.
int connected(std::uint16_t port) {
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? client : -1;
}

std::string fetch(std::uint16_t port, const std::string& request) {
  const int client = connected(port);
  if (client < 0) return "no connection";
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  ::shutdown(client, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(client, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  ::close(client);
  return answer;
}

TEST(Explore, ServesALargePageAndSurvivesBadRequests) {
  const std::string page(3'000'000, 'x');
  LoopbackServer server(page, 0);
  ASSERT_NE(server.port(), 0);
  std::thread serving([&] {
    for (int i = 0; i < 3; ++i) server.serve_one();
  });
  EXPECT_EQ(fetch(server.port(), "nonsense").substr(9, 3), "400");
  EXPECT_EQ(fetch(server.port(), "GET /x HTTP/1.0\r\n\r\n").substr(9, 3), "404");
  EXPECT_TRUE(fetch(server.port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").ends_with(page));
  serving.join();
}

constexpr int kLong = 240;  ///< seconds in which any machine has answered

TEST(Explore, IdleConnectionsHoldNobodyUp) {
  LoopbackServer server("PAGE", 0, kLong);
  std::thread serving([&] {
    for (int i = 0; i < 2; ++i) server.serve_one();
  });
  const int idle = connected(server.port());
  ASSERT_GE(idle, 0);
  EXPECT_TRUE(fetch(server.port(), "GET / HTTP/1.1\r\n\r\n").ends_with("PAGE"));
  char byte = 0;
  EXPECT_EQ(::recv(idle, &byte, 1, MSG_DONTWAIT), -1);  // still open, still unanswered
  ::close(idle);
  serving.join();
}

TEST(Explore, ConnectionsThatNeverAskAreClosedWithoutAWord) {
  LoopbackServer server("PAGE", 0, 1);
  std::thread serving([&] { server.serve_one(); });
  const int idle = connected(server.port());
  ASSERT_GE(idle, 0);
  char byte = 0;
  EXPECT_EQ(::recv(idle, &byte, 1, 0), 0) << "an answer to no question";
  ::close(idle);
  serving.join();
}

TEST(Explore, BytesThatDripInDoNotHoldAConnection) {
  LoopbackServer server("PAGE", 0, 1);
  std::thread serving([&] { server.serve_one(); });
  const int slow = connected(server.port());
  ASSERT_GE(slow, 0);
  bool closed = false;
  for (int drops = 0; drops < 200 && !closed; ++drops) {
    ::send(slow, "G", 1, MSG_NOSIGNAL);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    char byte = 0;
    closed = ::recv(slow, &byte, 1, MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  EXPECT_TRUE(closed);
  ::close(slow);
  serving.join();
}

TEST(Explore, SlowClientsGiveTheirPlaceToOthers) {
  constexpr int kSlow = 16;
  LoopbackServer server("PAGE", 0, kLong);
  std::thread serving([&] {
    for (int i = 0; i < kSlow + 1; ++i) server.serve_one();
  });
  std::vector<int> slow;
  for (int i = 0; i < kSlow; ++i) slow.push_back(connected(server.port()));
  EXPECT_TRUE(fetch(server.port(), "GET / HTTP/1.1\r\n\r\n").ends_with("PAGE"));
  serving.join();
  char byte = 0;
  EXPECT_EQ(::recv(slow.front(), &byte, 1, 0), 0) << "who came first has still its place";
  EXPECT_EQ(::recv(slow.back(), &byte, 1, MSG_DONTWAIT), -1) << "all were waited for";
  for (const int client : slow) ::close(client);
}

TEST(Explore, WithoutDescriptorsNothingIsCounted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer looks into memory through a pipe, which cannot be had either";
#endif
  LoopbackServer server("PAGE", 0, kLong);
  const int client = connected(server.port());
  ASSERT_GE(client, 0);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;  // all that are open stay open, no other can be had
  ::setrlimit(RLIMIT_NOFILE, &none);
  std::atomic<bool> served{false};
  std::thread serving([&] {
    server.serve_one();
    served = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(served) << "a request that never was";
  ::setrlimit(RLIMIT_NOFILE, &before);
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  EXPECT_EQ(::send(client, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  char answer[12];
  EXPECT_EQ(::recv(client, answer, sizeof answer, MSG_WAITALL), 12);
  EXPECT_EQ(std::string(answer, 12), "HTTP/1.1 200");
  serving.join();
  ::close(client);
}

TEST(Explore, TakenPortIsNamed) {
  const LoopbackServer first("x", 0);
  try {
    const LoopbackServer second("x", first.port());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--port " + std::to_string(first.port())), std::string::npos);
  }
}

}  // namespace
}  // namespace chasqui::cli
