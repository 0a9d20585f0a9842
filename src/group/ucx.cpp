// SPDX-License-Identifier: MIT
#include "group/ucx.hpp"

#include "chasqui/base/error.hpp"
#include "run/messages/tickets.hpp"
#include "run/wait/backoff.hpp"

#if CHASQUI_HAVE_UCX

#include <dirent.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chasqui::group {
namespace {

constexpr double kGrace = 1;        ///< seconds in which what was sent by a rank that has ended may still arrive
constexpr double kFarewell = 5;     ///< seconds for the last messages of a communicator that is given back
constexpr double kTakenBack = 0.5;  ///< seconds for a message whose buffer is needed, before its connection is closed
/// Seconds until a connection that is half made may be closed: UCX 1.13 ends the process when it has to answer another one just then. Only a rank
/// that fails has such.
constexpr double kHalfway = 0.2;
/// Tags are the sender's rank, then the collective's, or this one.
constexpr std::uint32_t kNews = ~std::uint32_t{0};

ucp_tag_t tag_from(int rank, std::uint32_t tag) { return static_cast<ucp_tag_t>(rank) << 32 | tag; }

/// The functions of libucp that are used here.
struct Ucp {
#define CHASQUI_UCP(name) decltype(&::ucp_##name) name = symbol<decltype(&::ucp_##name)>("ucp_" #name)
  CHASQUI_UCP(cleanup);
  CHASQUI_UCP(config_modify);
  CHASQUI_UCP(config_read);
  CHASQUI_UCP(config_release);
  CHASQUI_UCP(ep_close_nbx);
  CHASQUI_UCP(ep_create);
  CHASQUI_UCP(get_version);
  CHASQUI_UCP(init_version);
  CHASQUI_UCP(request_cancel);
  CHASQUI_UCP(request_check_status);
  CHASQUI_UCP(request_free);
  CHASQUI_UCP(tag_msg_recv_nbx);
  CHASQUI_UCP(tag_probe_nb);
  CHASQUI_UCP(tag_recv_nbx);
  CHASQUI_UCP(tag_recv_request_test);
  CHASQUI_UCP(tag_send_nbx);
  CHASQUI_UCP(worker_create);
  CHASQUI_UCP(worker_destroy);
  CHASQUI_UCP(worker_get_address);
  CHASQUI_UCP(worker_progress);
  CHASQUI_UCP(worker_release_address);
#undef CHASQUI_UCP
  using SetOption = ucs_status_t (*)(const char* name, const char* value);
  SetOption set_option = symbol<SetOption>("ucs_global_opts_set_value");
  decltype(&::ucs_status_string) text = symbol<decltype(&::ucs_status_string)>("ucs_status_string");

  /// Loaded once, and never unloaded: it has threads, signal handlers and hooks of its own.
  static const Ucp& library() {
    static const Ucp one;
    return one;
  }

 private:
  template <typename Function>
  static Function symbol(const char* name) {
    static void* const file = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr)
      throw Error("libucp.so.0 cannot be loaded: ranks on several hosts need UCX (apt install libucx0): {}", dlerror());
    void* const found = dlsym(file, name);
    if (found == nullptr) throw Error("libucp.so.0 has no {}: UCX 1.10 or later is needed", name);
    return reinterpret_cast<Function>(found);
  }
};

void check(ucs_status_t status, const char* what) {
  if (status != UCS_OK) throw Error("UCX: {}: {}", what, Ucp::library().text(status));
}

/// One for all communicators of the process.
class Context {
 public:
  static std::shared_ptr<Context> of_process() {
    static const std::shared_ptr<Context> one(new Context);
    return one;
  }
  ~Context() { ucp_.cleanup(handle_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ucp_context_h handle() const { return handle_; }

 private:
  Context() {
    ucp_config_t* config = nullptr;
    // What goes wrong is told by errors of ours; it would print lines about every connection that ends.
    if (std::getenv("UCX_LOG_LEVEL") == nullptr) ucp_.set_option("LOG_LEVEL", "fatal");
    check(ucp_.config_read(nullptr, nullptr, &config), "its settings (UCX_…)");
    connect_without_waiting(config);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.features = UCP_FEATURE_TAG;
    params.mt_workers_shared = 1;  // threads with a communicator each
    const ucs_status_t status = ucp_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &handle_);
    ucp_.config_release(config);
    check(status, "no network that it can use (UCX_TLS, UCX_NET_DEVICES)");
  }

  /// Over TCP it would wait inside a call for a host that is cut off, a minute and more, and this rank would answer nobody meanwhile. From
  /// version 1.17 on the option has its transport's name before it. A name that a version does not know changes nothing, and is warned of.
  void connect_without_waiting(ucp_config_t* config) const {
    if (std::getenv("UCX_TCP_CONN_NB") != nullptr) return;
    unsigned major = 0, minor = 0, release = 0;
    ucp_.get_version(&major, &minor, &release);
    const bool named = major > 1 || minor >= 17;
    ucp_.config_modify(config, named ? "TCP_CONN_NB" : "CONN_NB", "y");
  }

  const Ucp& ucp_ = Ucp::library();
  ucp_context_h handle_ = nullptr;
};

/// UCX ends the process where it finds no descriptor left for a connection: so many must be free before a worker is made.
constexpr rlim_t kSpareDescriptors = 64;

bool descriptors_left() {
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return true;
  DIR* const folder = opendir("/proc/self/fd");  // an iterator of std::filesystem ends the process when memory is short
  if (folder == nullptr) return errno != EMFILE && errno != ENFILE;
  rlim_t open = 0;
  while (readdir(folder) != nullptr) ++open;
  closedir(folder);
  return open + kSpareDescriptors < most.rlim_cur;
}

/// The worker of a communicator and its connections.
class Worker {
 public:
  explicit Worker(Meeting& all) : rank_(all.rank()) {
    if (!all.agreed(descriptors_left()))
      throw Error(
          "a communicator between hosts needs descriptors, and some process has fewer than {} left: raise their number "
          "(ulimit -n), or end communicators that are not used any more",
          kSpareDescriptors);
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
    ucp_worker_h made = nullptr;
    check(ucp_.worker_create(context_->handle(), &params, &made), "no worker");
    handle_ = {made, ucp_.worker_destroy};
    ucp_address_t* own = nullptr;
    std::size_t length = 0;
    check(ucp_.worker_get_address(handle(), &own, &length), "no address");
    const auto longest = static_cast<std::size_t>(all.most(static_cast<int>(length)));
    std::vector<char> padded(longest);
    std::memcpy(padded.data(), own, length);
    ucp_.worker_release_address(handle(), own);
    addresses_ = all.gather(padded.data(), longest);
    peers_.resize(static_cast<std::size_t>(all.size()));
    for (int r = 0; r < all.size(); ++r) names_.push_back(all.place().called(r));
  }
  /// What this rank has sent is on its way afterwards. Who has not finished connecting is not waited for unless it was sent to.
  ~Worker() {
    if (std::uncaught_exceptions() > 0) wait(kHalfway, [] { return false; });
    std::vector<void*> closing;
    for (Peer& peer : peers_) closing.push_back(begin_close(peer, !peer.used || peer.failed));
    wait(kFarewell,
         [&] { return std::all_of(closing.begin(), closing.end(), [&](void* each) { return over(each); }); });
    for (void* const each : closing) {
      if (each != nullptr) ucp_.request_free(each);
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int rank() const { return rank_; }
  ucp_worker_h handle() const { return handle_.get(); }
  void progress() { moved_ += ucp_.worker_progress(handle()); }
  std::uint64_t moved() const { return moved_; }  ///< what the network has done here so far

  /// Connects where there is none yet. nullptr: the connection is gone. `sends`: the other side must get something.
  ucp_ep_h connection(int to, bool sends) {
    Peer& peer = peers_[static_cast<std::size_t>(to)];
    peer.used = peer.used || sends;
    if (peer.failed) return nullptr;
    if (peer.end != nullptr) return peer.end;
    ucp_ep_params_t params{};
    params.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(addresses_.data() + addresses_.size() / peers_.size() *
                                                                                    static_cast<std::size_t>(to));
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {[](void* which, ucp_ep_h, ucs_status_t status) {
                            auto& lost = *static_cast<Peer*>(which);
                            if (!lost.failed) lost.since = clock_now();
                            lost.failed = true;
                            lost.status = status;
                          },
                          &peer};
    const ucs_status_t status = ucp_.ep_create(handle(), &params, &peer.end);
    if (status == UCS_OK) return peer.end;
    peer = {nullptr, true, true, clock_now(), status};
    return nullptr;
  }
  bool lost(int rank) const { return peers_[static_cast<std::size_t>(rank)].failed; }
  bool lost_for_good(int rank) const {
    return lost(rank) && clock_now() - peers_[static_cast<std::size_t>(rank)].since > kGrace * 1e9;
  }
  [[noreturn]] void throw_lost(int rank) const {
    throw Error(
        "{}: its process has ended, or was killed, or it has given its communicator back, or its host is down or cut off: "
        "its connection is gone ({})",
        names_[static_cast<std::size_t>(rank)], ucp_.text(peers_[static_cast<std::size_t>(rank)].status));
  }
  /// What is under way on it ends. The next message connects again.
  void disconnect(int rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    void* const closing = begin_close(peer, true);
    wait(kFarewell, [&] { return over(closing); });
    if (closing != nullptr) ucp_.request_free(closing);
    if (!peer.failed) peer = {};
  }

  /// Lets messages go on until it is so, or the seconds are over. Sleeps where nothing comes.
  template <typename Condition>
  bool wait(double seconds, Condition&& holds) {
    run::Backoff backoff(true);
    for (const double end = clock_now() + seconds * 1e9; !holds();) {
      if (clock_now() > end) return false;
      const std::uint64_t before = moved_;
      progress();
      if (moved_ != before) backoff.reset();
      else backoff.pause();
    }
    return true;
  }
  bool over(void* request) const { return request == nullptr || ucp_.request_check_status(request) != UCS_INPROGRESS; }

 private:
  struct Peer {
    ucp_ep_h end = nullptr;
    bool used = false;
    bool failed = false;
    double since = 0;  ///< when it failed
    ucs_status_t status = UCS_OK;
  };

  /// nullptr: it is closed. At once, or after what was sent is on its way.
  void* begin_close(Peer& peer, bool at_once) {
    if (peer.end == nullptr) return nullptr;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = at_once ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    void* const closing = ucp_.ep_close_nbx(std::exchange(peer.end, nullptr), &params);
    return UCS_PTR_IS_ERR(closing) ? nullptr : closing;
  }

  std::shared_ptr<Context> context_ = Context::of_process();
  const Ucp& ucp_ = Ucp::library();
  int rank_;
  std::unique_ptr<ucp_worker, decltype(&::ucp_worker_destroy)> handle_{nullptr, nullptr};
  std::vector<char> addresses_;  ///< of all ranks, one after the other
  std::vector<Peer> peers_;
  std::vector<std::string> names_;
  std::uint64_t moved_ = 0;
};

class Messages final : public run::Transport {
 public:
  explicit Messages(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}

  Ticket send(int to, std::uint32_t tag, const void* data, std::size_t bytes) override {
    const ucp_ep_h end = worker_->connection(to, true);
    if (end == nullptr) worker_->throw_lost(to);
    const ucp_request_param_t none{};
    return begun({to, false, bytes}, ucp_.tag_send_nbx(end, data, bytes, tag_from(worker_->rank(), tag), &none));
  }
  /// Connects, too, to hear when the other side ends.
  Ticket receive(int from, std::uint32_t tag, void* data, std::size_t bytes) override {
    worker_->connection(from, false);
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL;  // its length is asked for in one way
    return begun({from, true, bytes},
                 ucp_.tag_recv_nbx(worker_->handle(), data, bytes, tag_from(from, tag), ~ucp_tag_t{0}, &params));
  }
  bool done(Ticket ticket) override {
    if (operations_[ticket].request != nullptr && !look(ticket)) {
      worker_->progress();
      if (!look(ticket)) return false;
    }
    const Operation ended = operations_[ticket];
    operations_.give_back(ticket);
    if (ended.status == UCS_ERR_MESSAGE_TRUNCATED ||
        (ended.receives && ended.status == UCS_OK && ended.arrived != ended.bytes)) {
      throw Error("rank {} expected a message of {} bytes from rank {} and got {}: all ranks must pass the same size",
                  worker_->rank(), ended.bytes, ended.other,
                  ended.status == UCS_OK ? std::to_string(ended.arrived) : "more");
    }
    if (ended.status != UCS_OK) {
      if (worker_->lost(ended.other)) worker_->throw_lost(ended.other);
      check(ended.status, "a message of a collective");
    }
    return true;
  }
  void abandon(Ticket ticket) override {
    take_back(operations_[ticket]);
    operations_.give_back(ticket);
  }
  std::optional<std::uint64_t> moved() const override { return worker_->moved(); }

 private:
  struct Operation {
    int other = 0;
    bool receives = false;
    std::size_t bytes = 0;
    void* request = nullptr;  ///< nullptr: it has ended
    ucs_status_t status = UCS_OK;
    std::size_t arrived = 0;  ///< bytes
  };

  Ticket begun(Operation operation, void* request) {
    if (UCS_PTR_IS_ERR(request)) operation.status = UCS_PTR_STATUS(request);
    else operation.request = request;
    return operations_.take(operation);
  }
  /// Has it ended? A message of a rank that has itself ended is given up after a while.
  bool look(Ticket ticket) {
    Operation& operation = operations_[ticket];
    ucp_tag_recv_info_t info{};
    const ucs_status_t status = operation.receives ? ucp_.tag_recv_request_test(operation.request, &info)
                                                   : ucp_.request_check_status(operation.request);
    if (status == UCS_INPROGRESS) {
      if (!operation.receives || !worker_->lost_for_good(operation.other)) return false;
      take_back(operation);
      operation.status = UCS_ERR_CONNECTION_RESET;
      return true;
    }
    operation.status = status;
    operation.arrived = info.length;
    ucp_.request_free(std::exchange(operation.request, nullptr));
    return true;
  }
  /// Nobody uses its buffer afterwards.
  void take_back(Operation& operation) {
    void* const request = std::exchange(operation.request, nullptr);
    if (request == nullptr) return;
    if (operation.receives) ucp_.request_cancel(worker_->handle(), request);
    const auto over = [&] { return worker_->over(request); };
    if (!worker_->wait(kTakenBack, over)) {
      worker_->disconnect(operation.other);
      worker_->wait(kFarewell, over);
    }
    ucp_.request_free(request);
  }

  const Ucp& ucp_ = Ucp::library();
  std::shared_ptr<Worker> worker_;
  run::Tickets<Operation> operations_;
};

class Post final : public run::Post {
 public:
  explicit Post(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}
  ~Post() override {
    worker_->wait(kFarewell, [&] {
      forget_sent();
      return letters_.empty();
    });
    for (Letter& letter : letters_) {
      worker_->disconnect(letter.to);
      worker_->wait(kTakenBack, [&] { return worker_->over(letter.request); });
      ucp_.request_free(letter.request);
    }
  }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  void send(int to, const void* news, std::size_t bytes) override {
    forget_sent();
    const ucp_ep_h end = worker_->connection(to, true);
    if (end == nullptr) return;
    letters_.push_back({to, {static_cast<const char*>(news), bytes}, nullptr});
    Letter& letter = letters_.back();
    const ucp_request_param_t none{};
    letter.request = ucp_.tag_send_nbx(end, letter.text.data(), bytes, tag_from(worker_->rank(), kNews), &none);
    if (letter.request == nullptr || UCS_PTR_IS_ERR(letter.request)) letters_.pop_back();
  }
  std::optional<int> receive(void* news, std::size_t bytes) override {
    worker_->progress();
    ucp_tag_recv_info_t info{};
    const ucp_tag_message_h message = ucp_.tag_probe_nb(worker_->handle(), kNews, kNews, 1, &info);
    if (message == nullptr) return std::nullopt;
    const ucp_request_param_t none{};
    void* const request = ucp_.tag_msg_recv_nbx(worker_->handle(), news, bytes, message, &none);
    if (request != nullptr && !UCS_PTR_IS_ERR(request)) {
      worker_->wait(kFarewell, [&] { return worker_->over(request); });  // so short a message is there already
      ucp_.request_free(request);
    }
    return static_cast<int>(info.sender_tag >> 32);
  }

 private:
  struct Letter {
    int to;
    std::string text;
    void* request;
  };
  void forget_sent() {
    letters_.remove_if([&](const Letter& letter) {
      if (!worker_->over(letter.request)) return false;
      ucp_.request_free(letter.request);
      return true;
    });
  }

  const Ucp& ucp_ = Ucp::library();
  std::shared_ptr<Worker> worker_;
  std::list<Letter> letters_;  ///< sent, and maybe still under way
};

}  // namespace

Wires connect_by_ucx(Meeting& all) {
  const auto worker = std::make_shared<Worker>(all);
  return {std::make_shared<Messages>(worker), std::make_shared<Post>(worker), [worker] { worker->progress(); }};
}

}  // namespace chasqui::group

#else

namespace chasqui::group {

Wires connect_by_ucx(Meeting&) {
  throw Error("ranks on several hosts need UCX, without which this Chasqui was built (apt install libucx-dev)");
}

}  // namespace chasqui::group

#endif
