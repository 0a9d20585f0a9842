// SPDX-License-Identifier: MIT
// chasqui explore: the explorer page on localhost, in the browser.
#include <sys/wait.h>
#include <unistd.h>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "cli/frame/command.hpp"
#include "cli/launch/loopback_server.hpp"

namespace chasqui::cli {
namespace {

/// In a process of its own; whether a browser comes up is its business.
void open_in_browser(const std::string& url) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) {
      ::execlp("xdg-open", "xdg-open", url.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::_exit(0);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

class ExploreCommand final : public Command {
 public:
  ExploreCommand() : Command("explore", "the explorer in the browser: plans, pictures, animation") {
    describe(
        "Serves one page on 127.0.0.1 until interrupted and opens it with xdg-open. The page needs no network: "
        "the planner runs inside it, as WebAssembly, and it can also be opened as a file.");
    option("--port", "N", &port_, "port; default: any free one");
    option("--page", "FILE", &page_, "the page; default: the one built or installed with this program").file();
    option("--requests", "N", &requests_, "stop after so many requests");
    flag("--no-open", no_open_, "only print the address");
    example("chasqui explore", "open the explorer");
    example("chasqui explore --no-open --port 8080", "serve it on port 8080");
  }

  int run(Output& out) override {
    if (port_ < 0 || port_ > 65535) throw Error("--port {}: use 0 to 65535", port_);
    if (requests_ && *requests_ < 1) throw Error("--requests {}: use at least 1", *requests_);
    const std::string path = page_.value_or(explorer_page());
    LoopbackServer server(read_file(path, "build it with 'cmake --build … --target explorer_page' (needs emscripten)"),
                          static_cast<std::uint16_t>(port_));
    const std::string url = fmt::format("http://127.0.0.1:{}/", server.port());
    out.print("{}\n", url);
    out.flush();
    if (!no_open_) open_in_browser(url);
    for (std::int64_t served = 0; !requests_ || served < *requests_; ++served) server.serve_one();
    return 0;
  }

 private:
  std::int64_t port_ = 0;
  std::optional<std::string> page_;
  std::optional<std::int64_t> requests_;
  bool no_open_ = false;
};

}  // namespace

CommandPtr make_explore_command() { return std::make_unique<ExploreCommand>(); }

}  // namespace chasqui::cli
