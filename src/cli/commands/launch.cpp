// SPDX-License-Identifier: MIT
// chasqui launch: starts the ranks of a group, or those of one host. They find each other through their environment.
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "chasqui/base/error.hpp"
#include "cli/frame/command.hpp"

namespace chasqui::cli {
namespace {

constexpr std::int64_t kMost = 1024;
constexpr unsigned kGrace = 5;  ///< seconds between SIGTERM and SIGKILL

/// The ranks that live, for signal handlers.
volatile pid_t ranks[kMost];
volatile std::sig_atomic_t started = 0;

void to_all(int signal) {
  const int before = errno;
  for (int r = 0; r < started; ++r) {
    if (ranks[r] > 0) kill(ranks[r], signal == SIGALRM ? SIGKILL : signal);
  }
  errno = before;
}

std::string random_text() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    throw Error("the kernel gives no random numbers for a secret: set CHASQUI_SECRET");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The parent of a process; 0: it is gone.
pid_t parent_of(const char* process) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "r");
  if (file == nullptr) return 0;
  char text[512] = {};
  static_cast<void>(!std::fread(text, 1, sizeof text - 1, file));
  std::fclose(file);
  const char* const after_name = std::strrchr(text, ')');  // the name may be anything
  int parent = 0;
  return after_name != nullptr && std::sscanf(after_name, ") %*c %d", &parent) == 1 ? parent : 0;
}

void to_children(int signal) {
  DIR* const all = opendir("/proc");
  if (all == nullptr) return;
  while (const dirent* each = readdir(all)) {
    if (const pid_t process = std::atoi(each->d_name); process > 0 && parent_of(each->d_name) == getpid())
      kill(process, signal);
  }
  closedir(all);
}

/// What the ranks have started and left behind has become this process's children.
void end_what_is_left() {
  for (int tries = 0; waitpid(-1, nullptr, WNOHANG) >= 0; ++tries) {
    constexpr int kTries = 100;
    if (tries == 0) to_children(SIGTERM);
    if (tries >= kTries) to_children(SIGKILL);
    const timespec pause{0, kGrace * 1'000'000'000L / kTries};
    if (waitpid(-1, nullptr, WNOHANG) == 0) nanosleep(&pause, nullptr);
  }
}

class LaunchCommand : public Command {
 public:
  LaunchCommand() : Command("launch", "start the processes of a group, without MPI") {
    describe(
        "Starts the command N times, once for each rank. The ranks find each other by environment variables "
        "(CHASQUI_RANK, CHASQUI_SIZE, CHASQUI_RENDEZVOUS, CHASQUI_SECRET). chasqui_join in C, group::join in C++ "
        "and chasqui.join in Python read them.\n"
        "When a rank fails, a line names it, the others are ended, and launch exits with its status. Signals go "
        "to all ranks. What ranks leave running is ended with the last of them. Only the first rank gets the "
        "standard input.\n"
        "For a group on several hosts, run launch on each. --at says where rank 0 listens, --size how many ranks "
        "there are in all, --first which is the first one here. Set CHASQUI_SECRET to the same text everywhere.");
    positional("COMMAND", &words_, "the program with its arguments; after -- where these begin with a hyphen")
        .required();
    option("-n,--ranks", "N", &ranks_, "how many ranks to start here").required();
    option("--at", "ADDRESS", &at_, "where rank 0 listens, as tcp://10.0.0.1:4711; default: a local socket");
    option("--size", "P", &size_, "ranks of the whole group; default N");
    option("--first", "RANK", &first_, "number of the first rank that is started here; default 0");
    example("chasqui launch -n 4 ./program", "four ranks");
    example("chasqui launch -n 2 -- python3 train.py --epochs 3", "a program with options of its own");
    example("chasqui launch -n 2 --size 4 --first 2 --at tcp://10.0.0.1:4711 ./program", "the second of two hosts");
  }

  int run(Output& out) override {
    if (ranks_ < 1 || ranks_ > kMost) throw Error("-n {}: expected 1 to {}", ranks_, kMost);
    if (size_ == 0) size_ = ranks_;
    if (first_ < 0 || size_ > kMost || first_ + ranks_ > size_)
      throw Error("--first {} -n {} would start ranks {}..{}, and --size {} has 0..{}: make --size larger, at most {}",
                  first_, ranks_, first_, first_ + ranks_ - 1, size_, size_ - 1, kMost);
    if (size_ > ranks_ && (at_.empty() || std::getenv("CHASQUI_SECRET") == nullptr))
      throw Error(
          "{} of {} ranks are started here: say where all meet (--at tcp://ADDRESS:PORT), and set CHASQUI_SECRET everywhere",
          ranks_, size_);
    setenv("CHASQUI_SIZE", std::to_string(size_).c_str(), 1);
    setenv("CHASQUI_RENDEZVOUS", at_.empty() ? ("unix:@chasqui-launch-" + random_text()).c_str() : at_.c_str(), 1);
    if (size_ == ranks_) setenv("CHASQUI_SECRET", random_text().c_str(), 0);  // the user's own stays
    struct sigaction forward {};
    forward.sa_handler = to_all;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM}) sigaction(signal, &forward, nullptr);
    std::signal(SIGCHLD, SIG_DFL);  // who starts us may ignore it, and nobody could wait then
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (std::int64_t rank = 0; rank < ranks_; ++rank) start(static_cast<int>(rank));
    const int result = wait_for_all(out);
    end_what_is_left();
    return result;
  }

 private:
  void start(int rank) {
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
      to_all(SIGKILL);
      throw Error("process {} of {} could not be started: {}", rank, ranks_, std::strerror(errno));
    }
    ranks[rank] = child;
    started = rank + 1;
    if (child != 0) return;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM}) ::signal(signal, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // a launcher that is killed takes its ranks with it
    if (getppid() != parent) _exit(1);
    setenv("CHASQUI_RANK", std::to_string(first_ + rank).c_str(), 1);
    if (rank > 0) {
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
      close(nothing);
    }
    std::vector<char*> pointers;
    for (auto& word : words_) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp(pointers[0], pointers.data());
    std::fprintf(stderr, "chasqui launch: %s cannot be started: %s\n", pointers[0], std::strerror(errno));
    _exit(127);
  }

  int wait_for_all(Output& out) {
    int result = 0;
    for (std::int64_t left = ranks_; left > 0;) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, 0);
      if (ended < 0) continue;  // a signal came
      int rank = 0;
      while (rank < ranks_ && ranks[rank] != ended) ++rank;
      if (rank == ranks_) continue;
      ranks[rank] = 0;
      --left;
      if (status == 0 || result != 0) continue;
      result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      const std::string how = WIFEXITED(status) ? fmt::format("ended with status {}", WEXITSTATUS(status))
                                                : fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                                                              strsignal(WTERMSIG(status)));
      out.error(fmt::format("chasqui launch: rank {} of {} (process {}) {}{}\n", first_ + rank, size_, ended, how,
                            left > 0 ? ": the others are ended" : ""));
      to_all(SIGTERM);
      alarm(kGrace);
    }
    alarm(0);
    return result;
  }

  std::vector<std::string> words_;
  std::string at_;
  std::int64_t ranks_ = 0, size_ = 0, first_ = 0;
};

}  // namespace

CommandPtr make_launch_command() { return std::make_unique<LaunchCommand>(); }

}  // namespace chasqui::cli
