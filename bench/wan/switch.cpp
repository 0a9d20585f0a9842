// SPDX-License-Identifier: MIT
// An emulated network on one machine: HOSTS network namespaces, joined by a switch that holds every packet.
//   wan_switch HOSTS DELAY_US SECONDS COMMAND ARGUMENTS…
// Host k of 1, 2, … has the device wan0 with the address 10.77.0.k. When all are up COMMAND runs, with
//   CHASQUI_WAN_NAMESPACES   paths of the namespaces, in order, for nsenter --net
// and the network lasts until COMMAND ends (its exit status is this one's), standard input is closed, or SECONDS have
// passed (exit status 124). Namespaces are file descriptors of this process: they end with it. Run it as the first process
// of a PID namespace, and so does everything that COMMAND started.
//
// 1. Each host's device has a queue for each core, and each core a worker that reads queue c of every host. The kernel puts
//    both directions of a connection into the queue of one number, so a connection is one worker's and keeps its order.
// 2. All packets are held equally long, so that a worker's packets fall due in the order in which they came: its queue is a
//    list, and workers share nothing.
// 3. Workers preempt everything that is not of the real-time class; where that class is forbidden they have nice -20.
// 4. A packet here is up to 64 KiB of a TCP stream with one header (segmentation offload): it is passed on as it is, and
//    the sender's congestion window still counts segments of 1500 bytes.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kMostHosts = 254;             // of 10.77.0.0/24
constexpr int kMostQueues = 256;            // of a TUN device
constexpr int kSegment = 1500;              // bytes
constexpr int kDeviceQueue = 20'000;        // packets that wait for a worker
constexpr std::size_t kMostHeld = 16'384;   // packets that a worker holds; what comes beyond is lost
constexpr std::size_t kOffloadHeader = 10;  // struct virtio_net_hdr, before every packet
constexpr std::size_t kPacket = kOffloadHeader + 65'535;
constexpr int kTimedOut = 124;
constexpr char kDevice[] = "wan0";

using Nanoseconds = std::int64_t;

Nanoseconds now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * Nanoseconds{1'000'000'000} + time.tv_nsec;
}

/// What a system call returned. Throws with `place`, which names what was tried and what helps.
int checked(int result, const std::string& place) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), place);
  return result;
}

struct Host {
  int name_space = -1;
  std::vector<int> queues;
};

std::string address_of(int host) { return "10.77.0." + std::to_string(host); }

ifreq request_for(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  return request;
}

sockaddr internet_address(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  sockaddr plain{};
  std::memcpy(&plain, &address, sizeof plain);
  return plain;
}

int open_queue() {
  const int queue = checked(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC),
                            "/dev/net/tun (modprobe tun; in a container: --device /dev/net/tun --cap-add NET_ADMIN)");
  ifreq request = request_for(kDevice);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR | IFF_MULTI_QUEUE;
  checked(ioctl(queue, TUNSETIFF, &request), "a queue of a TUN device");
  checked(ioctl(queue, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4), "segmentation offload of a TUN device");
  return queue;
}

void bring_up(int socket, const char* device) {
  ifreq request = request_for(device);
  checked(ioctl(socket, SIOCGIFFLAGS, &request), "reading a device's flags");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  checked(ioctl(socket, SIOCSIFFLAGS, &request), "bringing a device up");
}

void configure_devices(int host) {
  const int socket = checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "a socket for a host's devices");
  ifreq request = request_for(kDevice);
  request.ifr_mtu = kSegment;
  checked(ioctl(socket, SIOCSIFMTU, &request), "a device's segment size");
  request.ifr_qlen = kDeviceQueue;
  checked(ioctl(socket, SIOCSIFTXQLEN, &request), "a device's queue length");
  request.ifr_addr = internet_address(address_of(host));
  checked(ioctl(socket, SIOCSIFADDR, &request), "a device's address");
  request.ifr_netmask = internet_address("255.255.255.0");
  checked(ioctl(socket, SIOCSIFNETMASK, &request), "a device's network mask");
  bring_up(socket, "lo");
  bring_up(socket, kDevice);
  close(socket);
}

/// Of the calling thread's network namespace. A warm connection stays warm, and buffers hold a long path's packets.
void configure_tcp() {
  const std::array<std::pair<const char*, const char*>, 6> settings = {{{"ipv4/tcp_congestion_control", "reno"},
                                                                        {"ipv4/tcp_slow_start_after_idle", "0"},
                                                                        {"ipv4/tcp_no_metrics_save", "1"},
                                                                        {"ipv4/tcp_rmem", "4096 4194304 33554432"},
                                                                        {"ipv4/tcp_wmem", "4096 4194304 33554432"},
                                                                        {"ipv6/conf/all/disable_ipv6", "1"}}};
  for (const auto& [name, value] : settings) {
    std::ofstream file(std::string("/proc/sys/net/") + name);
    if (!(file << value << std::flush)) std::fprintf(stderr, "wan_switch: /proc/sys/net/%s stays as it is\n", name);
  }
}

/// Moves the calling thread into a network namespace of its own.
Host make_host(int number, std::size_t cores) {
  checked(unshare(CLONE_NEWNET), "a network namespace (run as root; in a container: --cap-add SYS_ADMIN)");
  Host host;
  host.name_space = checked(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "/proc/thread-self/ns/net");
  for (std::size_t i = 0; i < cores; ++i) host.queues.push_back(open_queue());
  configure_devices(number);
  configure_tcp();
  return host;
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  checked(sched_getaffinity(0, sizeof set, &set), "the cores of this process");
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < kMostQueues; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

/// The calling thread, from now on.
void take_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  checked(sched_setaffinity(0, sizeof set, &set), "binding a worker to its core");
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  const sched_param lowest{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) setpriority(PRIO_PROCESS, 0, -20);
}

struct Held {
  Nanoseconds due;
  std::size_t host;
  std::size_t length;
  std::unique_ptr<char[]> bytes;
};

/// What a worker did. It alone writes; anybody may read.
struct Passed {
  std::atomic<std::int64_t> packets = 0;
  std::atomic<std::int64_t> lost = 0;
  std::atomic<Nanoseconds> late = 0;
  std::atomic<Nanoseconds> latest = 0;
};

class Worker {
 public:
  /// Serves queue `number` of every host.
  Worker(const std::vector<Host>& hosts, std::size_t number, Nanoseconds delay) : delay_(delay) {
    ready_ = checked(epoll_create1(EPOLL_CLOEXEC), "epoll");
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      queues_.push_back(hosts[i].queues[number]);
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      checked(epoll_ctl(ready_, EPOLL_CTL_ADD, queues_.back(), &event), "waiting for a queue");
    }
  }

  /// Never returns: the process ends it.
  void run() {
    for (;;) {
      send_due();
      std::array<epoll_event, 64> events;
      const std::optional<timespec> pause = until_next();
      const int count = epoll_pwait2(ready_, events.data(), events.size(), pause ? &*pause : nullptr, nullptr);
      for (int i = 0; i < count; ++i) take_from(events[static_cast<std::size_t>(i)].data.u64);
    }
  }

  const Passed& passed() const { return passed_; }

 private:
  std::optional<timespec> until_next() const {
    if (held_.empty()) return std::nullopt;
    const Nanoseconds pause = std::max<Nanoseconds>(0, held_.front().due - now());
    return timespec{.tv_sec = pause / 1'000'000'000, .tv_nsec = pause % 1'000'000'000};
  }

  void send_due() {
    while (!held_.empty()) {
      const Nanoseconds late = now() - held_.front().due;
      if (late < 0) return;
      Held packet = std::move(held_.front());
      held_.pop_front();
      if (write(queues_[packet.host], packet.bytes.get(), packet.length) < 0) ++passed_.lost;
      ++passed_.packets;
      passed_.late += late;
      passed_.latest = std::max(passed_.latest.load(), late);
      spare_.push_back(std::move(packet.bytes));
    }
  }

  /// Takes what `host` has sent, at least one packet, until one that is held falls due.
  void take_from(std::size_t host) {
    do {
      auto bytes = buffer();
      const ssize_t length = read(queues_[host], bytes.get(), kPacket);
      if (length < 0) {
        spare_.push_back(std::move(bytes));
        return;
      }
      const auto to = destination(bytes.get(), static_cast<std::size_t>(length));
      if (to && held_.size() < kMostHeld) {
        held_.push_back({now() + delay_, *to, static_cast<std::size_t>(length), std::move(bytes)});
      } else {
        if (to) ++passed_.lost;
        spare_.push_back(std::move(bytes));
      }
    } while (held_.empty() || held_.front().due > now());
  }

  /// The host that an IPv4 packet is sent to; nothing for other packets and addresses of no host (multicast).
  std::optional<std::size_t> destination(const char* packet, std::size_t length) const {
    constexpr std::size_t kHeader = 20;
    if (length < kOffloadHeader + kHeader) return std::nullopt;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(packet[kOffloadHeader + i]); };
    if (at(0) >> 4 != 4 || at(16) != 10 || at(17) != 77 || at(18) != 0) return std::nullopt;
    if (at(19) < 1 || at(19) > queues_.size()) return std::nullopt;
    return at(19) - std::size_t{1};
  }

  std::unique_ptr<char[]> buffer() {
    if (spare_.empty()) return std::make_unique_for_overwrite<char[]>(kPacket);
    auto last = std::move(spare_.back());
    spare_.pop_back();
    return last;
  }

  int ready_;
  Nanoseconds delay_;
  std::vector<int> queues_;
  std::deque<Held> held_;
  std::vector<std::unique_ptr<char[]>> spare_;
  Passed passed_;
};

struct Task {
  int hosts;
  int delay_us;
  int seconds;
  char** command;
};

int whole_number(const char* text, const std::string& what, int low, int high) {
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value < low || value > high) {
    throw std::invalid_argument(what + " is " + text + ": give " + std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

Task task_of(int argc, char** argv) {
  if (argc < 5) throw std::invalid_argument("usage: wan_switch HOSTS DELAY_US SECONDS COMMAND ARGUMENTS...");
  return {.hosts = whole_number(argv[1], "the number of hosts", 1, kMostHosts),
          .delay_us = whole_number(argv[2], "the delay in microseconds", 0, 10'000'000),
          .seconds = whole_number(argv[3], "the number of seconds", 1, 86'400),
          .command = argv + 4};
}

/// A queue is a file: 32 hosts on 64 cores have more of them than a process may open at first. Returns the limit before,
/// which COMMAND is to have: launchers close every file that they might have.
rlimit allow_many_files() {
  rlimit before;
  checked(getrlimit(RLIMIT_NOFILE, &before), "the number of open files");
  const rlimit most{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  checked(setrlimit(RLIMIT_NOFILE, &most), "the number of open files");
  return before;
}

std::vector<Host> make_hosts(int count, std::size_t cores) {
  std::vector<Host> hosts;
  for (int number = 1; number <= count; ++number) {
    hosts.push_back(std::async(std::launch::async, make_host, number, cores).get());
  }
  return hosts;
}

void name_namespaces(const std::vector<Host>& hosts) {
  std::string paths;
  for (const Host& host : hosts) {
    if (!paths.empty()) paths += ' ';
    paths += "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(host.name_space);
  }
  checked(setenv("CHASQUI_WAN_NAMESPACES", paths.c_str(), 1), "the environment");
}

/// Signals are blocked in every thread of this process, and are not in COMMAND.
pid_t start(char** command, const sigset_t& waited_for) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &waited_for);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t child = -1;
  const int error = posix_spawnp(&child, command[0], &files, &attributes, command, environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
  return child;
}

/// Reaps whatever has ended, orphans of COMMAND among it; COMMAND's exit status once it has.
std::optional<int> reaped(pid_t command) {
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (ended == command) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return std::nullopt;
}

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

/// True at the end of standard input: a launcher that has died ends the network.
bool input_closed() {
  char bytes[64];
  return read(STDIN_FILENO, bytes, sizeof bytes) <= 0;
}

/// The exit status: that of `command`, or why it was not waited for. Signals arrive in the file `arrived`.
int wait_for(pid_t command, int arrived, int seconds) {
  const Nanoseconds end = now() + seconds * Nanoseconds{1'000'000'000};
  for (;;) {
    if (const auto status = reaped(command)) return *status;
    const Nanoseconds left = end - now();
    if (left <= 0) {
      std::fprintf(stderr, "wan_switch: %d seconds have passed: the network ends\n", seconds);
      return kTimedOut;
    }
    std::array<pollfd, 2> files = {{{arrived, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    poll(files.data(), files.size(), static_cast<int>(left / 1'000'000 + 1));
    if (files[1].revents != 0 && input_closed()) return 128 + SIGHUP;
    signalfd_siginfo signal{};
    if (files[0].revents == 0 || read(arrived, &signal, sizeof signal) != sizeof signal) continue;
    if (signal.ssi_signo != SIGCHLD) return 128 + static_cast<int>(signal.ssi_signo);
  }
}

/// Workers run on meanwhile.
void report(const std::vector<std::unique_ptr<Worker>>& workers) {
  std::int64_t packets = 0;
  std::int64_t lost = 0;
  Nanoseconds late = 0;
  Nanoseconds latest = 0;
  for (const auto& worker : workers) {
    packets += worker->passed().packets;
    lost += worker->passed().lost;
    late += worker->passed().late;
    latest = std::max(latest, worker->passed().latest.load());
  }
  const double mean = packets == 0 ? 0 : static_cast<double>(late) / static_cast<double>(packets);
  std::fprintf(stderr, "wan_switch: %lld packets, %lld lost, %.1f us late in the mean, %.1f at most\n",
               static_cast<long long>(packets), static_cast<long long>(lost), mean / 1e3,
               static_cast<double>(latest) / 1e3);
}

int serve(const Task& task) {
  const sigset_t signals = awaited_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int arrived = checked(signalfd(-1, &signals, SFD_CLOEXEC), "waiting for signals");
  const rlimit files = allow_many_files();
  const auto cores = allowed_cores();
  const auto hosts = make_hosts(task.hosts, cores.size());
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    workers.push_back(std::make_unique<Worker>(hosts, i, task.delay_us * Nanoseconds{1'000}));
    std::thread([worker = workers.back().get(), core = cores[i]] {
      take_core(core);
      worker->run();
    }).detach();
  }
  name_namespaces(hosts);
  checked(setrlimit(RLIMIT_NOFILE, &files), "the number of open files");
  const int status = wait_for(start(task.command, signals), arrived, task.seconds);
  report(workers);
  std::fflush(stderr);
  _exit(status);  // without waiting for the workers, which never return
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return serve(task_of(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wan_switch: %s\n", error.what());
    return 2;
  }
}
