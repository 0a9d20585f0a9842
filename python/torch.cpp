// SPDX-License-Identifier: MIT
// chasqui._torch: a process group of torch.distributed over chasqui.h, for tensors in the memory of CPUs.
//
// A collective becomes a Task in the queue of its group. Tasks of a group run one after another, in the order of their calls, and
// by whoever comes first: a thread that waits for one runs what is at the head of the queue itself, so that a call that is waited
// for at once changes no thread. What nobody waits for is run by the group's own thread. That thread is not woken for every task:
// while tasks come it looks every kNap whether one has been left lying, less often while it finds none (up to kLongNap: a rank on
// whose core it wakes up stands still, and the others wait for that rank), and only when none has come for kHot does it sleep.
//
// Torch 1.13 knows process groups as c10d::ProcessGroup; since 2.0 their backends are c10d::Backend with the same functions.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
#include <ATen/ATen.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "chasqui/chasqui.h"

namespace {

#if TORCH_VERSION_MAJOR >= 2
using Base = c10d::Backend;
#else
using Base = c10d::ProcessGroup;
#endif
using c10d::OpType;
using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kNap = 200us, kLongNap = 3200us;
constexpr auto kHot = 20ms;

void check(int code) {
  if (code != 0) throw std::runtime_error(std::string("chasqui: ") + chasqui_last_error());
}

/// How many forks lie between this process and the one that loaded the module.
int forks = 0;

/// One call of a collective.
class Task;
using TaskPtr = c10::intrusive_ptr<Task>;

/// The tasks of a group, and the thread that runs what nobody waits for. A process that a rank forks has a copy, but not the thread,
/// which may have held the lock: the copy refuses all, and is never destroyed.
class Queue {
 public:
  static std::shared_ptr<Queue> make() {
    return {new Queue, [](Queue* queue) {
              if (queue->is_at_home()) delete queue;
            }};
  }
  ~Queue() { stop(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void push(const TaskPtr& task);
  /// Runs tasks until this one is done.
  void help(const Task& task);
  /// Waits for it without running anything. False: it was not done in time.
  bool wait(const Task& task, Clock::duration timeout);
  /// The thread shall not nap.
  void hurry();
  /// Runs what is left and ends the thread.
  void stop();

 private:
  Queue() : thread_([this] { serve(); }) {}

  bool is_at_home() const { return forks == home_; }
  void require_home() const {
    if (!is_at_home())
      throw std::runtime_error(
          "chasqui: this process was forked by a rank and is none: it cannot use the rank's groups");
  }
  void run_head(std::unique_lock<std::mutex>& lock);
  void serve();

  const int home_ = forks;
  std::mutex mutex_;
  std::condition_variable done_;  ///< a task has ended
  std::condition_variable work_;  ///< for the thread
  std::deque<TaskPtr> tasks_;
  std::uint64_t pushed_ = 0;
  Clock::time_point last_push_ = Clock::now();
  bool running_ = false;  ///< somebody runs a task
  bool asleep_ = false;
  bool hurry_ = false;
  bool stopping_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

class Task final : public c10d::Work {
 public:
  Task(int rank, OpType type, std::shared_ptr<Queue> queue, Tensors outputs, std::function<void()> body)
      : Work(rank, type), queue_(std::move(queue)), outputs_(std::move(outputs)), body_(std::move(body)) {}

  bool is_done() const { return is_done_; }

  /// Once, by the queue.
  void run() {
    std::exception_ptr failure;
    try {
      body_();
    } catch (...) {
      failure = std::current_exception();
    }
    body_ = nullptr;
    finish(failure);
    c10::intrusive_ptr<c10::ivalue::Future> future;
    {
      const std::lock_guard lock(future_mutex_);
      is_done_ = true;
      future = future_;
    }
    if (future) settle(*future);
  }

  bool wait(std::chrono::milliseconds timeout) override {
    if (timeout <= 0ms) {
      queue_->help(*this);
    } else if (!queue_->wait(*this, timeout)) {
      throw std::runtime_error("chasqui: the collective did not end within " + std::to_string(timeout.count()) + " ms");
    }
    if (exception()) std::rethrow_exception(exception());
    return true;
  }

  void synchronize() override {}

  Tensors result() override { return outputs_; }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    c10::intrusive_ptr<c10::ivalue::Future> future;
    bool late = false;
    {
      const std::lock_guard lock(future_mutex_);
      late = is_done_ && !future_;
      if (!future_) future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
      future = future_;
    }
    if (late) settle(*future);
    queue_->hurry();
    return future;
  }

  std::uint64_t number = 0;  ///< how many were pushed before it, and it

 private:
  void settle(c10::ivalue::Future& future) {
    if (exception()) future.setError(exception());
    else future.markCompleted(c10::IValue(outputs_));
  }

  std::shared_ptr<Queue> queue_;
  Tensors outputs_;
  std::function<void()> body_;
  std::mutex future_mutex_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<bool> is_done_ = false;
};

void Queue::push(const TaskPtr& task) {
  require_home();
  const std::lock_guard lock(mutex_);
  task->number = ++pushed_;
  tasks_.push_back(task);
  last_push_ = Clock::now();
  if (asleep_) work_.notify_one();
}

void Queue::run_head(std::unique_lock<std::mutex>& lock) {
  const TaskPtr task = std::move(tasks_.front());
  tasks_.pop_front();
  running_ = true;
  lock.unlock();
  task->run();
  lock.lock();
  running_ = false;
  done_.notify_all();
}

void Queue::help(const Task& task) {
  require_home();
  std::unique_lock lock(mutex_);
  while (!task.is_done()) {
    if (!running_ && !tasks_.empty()) run_head(lock);
    else done_.wait(lock);
  }
}

bool Queue::wait(const Task& task, Clock::duration timeout) {
  hurry();
  std::unique_lock lock(mutex_);
  return done_.wait_for(lock, timeout, [&] { return task.is_done(); });
}

void Queue::hurry() {
  require_home();
  const std::lock_guard lock(mutex_);
  if (tasks_.empty()) return;
  hurry_ = true;
  work_.notify_one();
}

void Queue::stop() {
  if (!is_at_home()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Queue::serve() {
  std::unique_lock lock(mutex_);
  auto nap = kNap;
  while (!stopping_ || !tasks_.empty()) {
    if (tasks_.empty() && Clock::now() - last_push_ > kHot) {
      asleep_ = true;
      work_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      asleep_ = false;
      nap = kNap;
    }
    const std::uint64_t lying = pushed_;
    work_.wait_for(lock, nap, [&] { return hurry_ || stopping_; });
    nap = std::min(2 * nap, kLongNap);
    const bool all = hurry_ || stopping_;
    hurry_ = false;
    if (running_ && all) done_.wait(lock, [&] { return !running_; });
    while (!running_ && !tasks_.empty() && (all || tasks_.front()->number <= lying)) {
      run_head(lock);
      nap = kNap;
    }
  }
}

chasqui_type type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kChar: return CHASQUI_I8;
    case at::kByte: return CHASQUI_U8;
    case at::kShort: return CHASQUI_I16;
    case at::kInt: return CHASQUI_I32;
    case at::kLong: return CHASQUI_I64;
    case at::kHalf: return CHASQUI_F16;
    case at::kBFloat16: return CHASQUI_BF16;
    case at::kFloat: return CHASQUI_F32;
    case at::kDouble: return CHASQUI_F64;
    case at::kBool: return CHASQUI_BOOL;
    default: TORCH_CHECK(false, "chasqui reduces no tensors of ", tensor.scalar_type(), ": convert them first");
  }
}

chasqui_operation operation_of(c10d::ReduceOp::RedOpType operation) {
  switch (operation) {
    case c10d::ReduceOp::SUM: return CHASQUI_SUM;
    case c10d::ReduceOp::AVG: return CHASQUI_AVERAGE;
    case c10d::ReduceOp::PRODUCT: return CHASQUI_PRODUCT;
    case c10d::ReduceOp::MIN: return CHASQUI_MIN;
    case c10d::ReduceOp::MAX: return CHASQUI_MAX;
    case c10d::ReduceOp::BAND: return CHASQUI_AND;
    case c10d::ReduceOp::BOR: return CHASQUI_OR;
    case c10d::ReduceOp::BXOR: return CHASQUI_XOR;
    default: TORCH_CHECK(false, "chasqui has no scaled sum: multiply the tensor, then use SUM");
  }
}

const at::Tensor& usable(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.layout() == at::kStrided && tensor.device().is_cpu(),
              "chasqui works on dense tensors in the memory of the CPU: this one is ", tensor.layout(), " on ",
              tensor.device());
  TORCH_CHECK(tensor.is_contiguous(), "chasqui works on contiguous tensors: call contiguous() first");
  return tensor;
}

const at::Tensor& only(const Tensors& tensors) {
  TORCH_CHECK(tensors.size() == 1, "chasqui takes one tensor of each rank, not ", tensors.size());
  return usable(tensors.front());
}

std::int64_t count_of(const at::Tensor& tensor) { return tensor.numel(); }
std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

/// One buffer behind a list of tensors, one after another: theirs where they lie like that, else its own.
class Packed {
 public:
  explicit Packed(Tensors tensors) : tensors_(std::move(tensors)) {
    data_ = static_cast<char*>(tensors_.front().data_ptr());
    bool theirs = true;
    std::int64_t all = 0;
    for (const at::Tensor& tensor : tensors_) {
      theirs = theirs && (bytes_of(tensor) == 0 || tensor.data_ptr() == data_ + all);
      offsets_.push_back(all);
      counts_.push_back(bytes_of(tensor));
      all += bytes_of(tensor);
    }
    if (theirs) return;
    own_ = at::empty({all}, at::kByte);
    data_ = static_cast<char*>(own_.data_ptr());
  }

  char* data() const { return data_; }
  const std::int64_t* counts() const { return counts_.data(); }    ///< bytes
  const std::int64_t* offsets() const { return offsets_.data(); }  ///< bytes
  void collect() {
    each([](char* packed, void* tensor, std::size_t bytes) { std::memcpy(packed, tensor, bytes); });
  }
  void spread() {
    each([](char* packed, void* tensor, std::size_t bytes) { std::memcpy(tensor, packed, bytes); });
  }

 private:
  template <typename Copy>
  void each(Copy copy) {
    if (!own_.defined()) return;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (counts_[i] > 0) copy(data_ + offsets_[i], tensors_[i].data_ptr(), tensors_[i].nbytes());
  }

  Tensors tensors_;
  std::vector<std::int64_t> counts_, offsets_;
  char* data_;
  at::Tensor own_;
};

class Group final : public Base {
 public:
  Group(int rank, int size, chasqui_comm* comm) : Base(rank, size), comm_(comm) {}
  ~Group() override {
    queue_->stop();
    chasqui_comm_free(comm_);
  }

  const std::string getBackendName() const override { return "chasqui"; }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    const at::Tensor data = only(tensors);
    return submit(OpType::BROADCAST, {data}, [=, root = static_cast<int>(options.rootRank)] {
      check(chasqui_broadcast(comm_, data.data_ptr(), bytes_of(data), CHASQUI_U8, root, nullptr));
    });
  }

  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    return reduced(OpType::ALLREDUCE, {only(tensors)}, options.reduceOp);
  }

  WorkPtr allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override {
    for (const at::Tensor& tensor : tensors) usable(tensor);
    return reduced(OpType::ALLREDUCE_COALESCED, tensors, options.reduceOp);
  }

  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    const at::Tensor data = only(tensors);
    return submit(OpType::REDUCE, {data},
                  [=, type = type_of(data), operation = operation_of(options.reduceOp),
                   root = static_cast<int>(options.rootRank)] {
                    check(chasqui_reduce(comm_, data.data_ptr(), rank_ == root ? data.data_ptr() : nullptr,
                                         count_of(data), type, operation, root, nullptr));
                  });
  }

  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions&) override {
    const at::Tensor input = only(inputs);
    const Tensors parts = list_of(outputs, input);
    return submit(OpType::ALLGATHER, parts, [=] {
      Packed packed(parts);
      check(chasqui_allgather(comm_, input.data_ptr(), packed.data(), bytes_of(input), CHASQUI_U8, nullptr));
      packed.spread();
    });
  }

  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions&) override {
    const at::Tensor whole = usable(output), own = usable(input);
    TORCH_CHECK(bytes_of(whole) == size_ * bytes_of(own), "chasqui: the output has room for ", bytes_of(whole),
                " bytes; ", size_, " ranks send ", bytes_of(own), " each");
    return submit(OpType::_ALLGATHER_BASE, {whole}, [=] {
      check(chasqui_allgather(comm_, own.data_ptr(), whole.data_ptr(), bytes_of(own), CHASQUI_U8, nullptr));
    });
  }

  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& options) override {
    const at::Tensor input = only(inputs);
    const auto root = static_cast<int>(options.rootRank);
    const Tensors parts = rank_ == root ? list_of(outputs, input) : Tensors{};
    return submit(OpType::GATHER, parts, [=] {
      if (rank_ != root)
        return check(chasqui_gather(comm_, input.data_ptr(), nullptr, bytes_of(input), CHASQUI_U8, root, nullptr));
      Packed packed(parts);
      check(chasqui_gather(comm_, input.data_ptr(), packed.data(), bytes_of(input), CHASQUI_U8, root, nullptr));
      packed.spread();
    });
  }

  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& options) override {
    const at::Tensor output = only(outputs);
    const auto root = static_cast<int>(options.rootRank);
    const Tensors parts = rank_ == root ? list_of(inputs, output) : Tensors{};
    return submit(OpType::SCATTER, {output}, [=] {
      if (rank_ != root)
        return check(chasqui_scatter(comm_, nullptr, output.data_ptr(), bytes_of(output), CHASQUI_U8, root, nullptr));
      Packed packed(parts);
      packed.collect();
      check(chasqui_scatter(comm_, packed.data(), output.data_ptr(), bytes_of(output), CHASQUI_U8, root, nullptr));
    });
  }

  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override {
    const at::Tensor output = only(outputs);
    const Tensors parts = list_of(inputs, output);
    return submit(OpType::REDUCE_SCATTER, {output},
                  [=, type = type_of(output), operation = operation_of(options.reduceOp)] {
                    Packed packed(parts);
                    packed.collect();
                    check(chasqui_reduce_scatter(comm_, packed.data(), output.data_ptr(), count_of(output), type,
                                                 operation, nullptr));
                  });
  }

  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override {
    const at::Tensor own = usable(output), whole = usable(input);
    TORCH_CHECK(count_of(whole) == size_ * count_of(own), "chasqui: the input has ", count_of(whole), " elements; ",
                size_, " ranks keep ", count_of(own), " each");
    return submit(
        OpType::_REDUCE_SCATTER_BASE, {own}, [=, type = type_of(own), operation = operation_of(options.reduceOp)] {
          check(
              chasqui_reduce_scatter(comm_, whole.data_ptr(), own.data_ptr(), count_of(own), type, operation, nullptr));
        });
  }

  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                        std::vector<std::int64_t>& input_splits, const c10d::AllToAllOptions&) override {
    return exchange(OpType::ALLTOALL_BASE, split(usable(output), output_splits), split(usable(input), input_splits));
  }

  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions&) override {
    for (const Tensors* list : {&outputs, &inputs}) {
      TORCH_CHECK(static_cast<int>(list->size()) == size_, "chasqui: all-to-all takes a tensor for each of ", size_,
                  " ranks, not ", list->size());
      for (const at::Tensor& tensor : *list) usable(tensor);
    }
    return exchange(OpType::ALLTOALL, outputs, inputs);
  }

  WorkPtr barrier(const c10d::BarrierOptions&) override {
    return submit(OpType::BARRIER, {}, [this] { check(chasqui_barrier(comm_, nullptr)); });
  }

  WorkPtr send(Tensors&, int, int) override { refuse_messages(); }
  WorkPtr recv(Tensors&, int, int) override { refuse_messages(); }
  WorkPtr recvAnysource(Tensors&, int) override { refuse_messages(); }

 private:
  [[noreturn]] static void refuse_messages() {
    TORCH_CHECK(false, "chasqui has collectives only: make a group for send and recv with new_group(backend=\"gloo\")");
  }

  template <typename Body>
  WorkPtr submit(OpType type, Tensors outputs, Body body) {
    auto task = c10::make_intrusive<Task>(rank_, type, queue_, std::move(outputs), std::move(body));
    queue_->push(task);
    return task;
  }

  WorkPtr reduced(OpType type, const Tensors& tensors, c10d::ReduceOp::RedOpType reduction) {
    const chasqui_operation operation = operation_of(reduction);
    for (const at::Tensor& tensor : tensors) type_of(tensor);
    return submit(type, tensors, [=] {
      for (const at::Tensor& tensor : tensors)
        check(chasqui_allreduce(comm_, tensor.data_ptr(), tensor.data_ptr(), count_of(tensor), type_of(tensor),
                                operation, nullptr));
    });
  }

  /// The tensors of all ranks, each like `one`.
  Tensors list_of(const std::vector<Tensors>& lists, const at::Tensor& one) const {
    TORCH_CHECK(lists.size() == 1 && static_cast<int>(lists.front().size()) == size_,
                "chasqui takes one list with a tensor for each of ", size_, " ranks");
    for (const at::Tensor& tensor : lists.front()) {
      TORCH_CHECK(usable(tensor).numel() == one.numel() && tensor.scalar_type() == one.scalar_type(),
                  "chasqui: the tensors of all ranks must be alike");
    }
    return lists.front();
  }

  /// The parts of the first dimension for each rank; without sizes they are equal.
  Tensors split(const at::Tensor& tensor, const std::vector<std::int64_t>& sizes) const {
    if (!sizes.empty()) return tensor.split_with_sizes(sizes);
    TORCH_CHECK(tensor.dim() > 0 && tensor.size(0) % size_ == 0, "chasqui: ", size_,
                " ranks cannot have equal parts of a tensor whose first dimension is ",
                tensor.dim() > 0 ? tensor.size(0) : 0);
    return tensor.split_with_sizes(std::vector<std::int64_t>(static_cast<std::size_t>(size_), tensor.size(0) / size_));
  }

  WorkPtr exchange(OpType type, const Tensors& outputs, const Tensors& inputs) {
    return submit(type, outputs, [=] {
      Packed sent(inputs), received(outputs);
      sent.collect();
      check(chasqui_alltoallv(comm_, sent.data(), sent.counts(), sent.offsets(), received.data(), received.counts(),
                              received.offsets(), CHASQUI_U8, nullptr));
      received.spread();
    });
  }

  chasqui_comm* comm_;
  std::shared_ptr<Queue> queue_ = Queue::make();
};

std::string random_name() {
  std::random_device source;
  std::string name;
  for (int i = 0; i < 32; ++i) name += "0123456789abcdef"[source() % 16];
  return name;
}

/// Its kernel and its network.
std::string this_host() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  struct stat network {};
  stat("/proc/self/ns/net", &network);
  return id + "/" + std::to_string(network.st_ino);
}

/// A port of this host. While it is held the kernel gives it to nobody else, and rank 0 can listen there: both sockets are bound
/// for reuse.
class Port {
 public:
  Port() = default;
  ~Port() {
    if (socket_ >= 0) close(socket_);
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  /// A free one; 0: that is no IPv4 address of this host.
  int take(const std::string& address) {
    const int yes = 1;
    sockaddr_in own{};
    socklen_t length = sizeof own;
    own.sin_family = AF_INET;
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const bool bound = inet_pton(AF_INET, address.c_str(), &own.sin_addr) == 1 &&
                       bind(socket_, reinterpret_cast<sockaddr*>(&own), sizeof own) == 0 &&
                       getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &length) == 0;
    return bound ? ntohs(own.sin_port) : 0;
  }

 private:
  int socket_ = -1;
};

/// A place on this host that the others can reach: CHASQUI_ADDRESS, else the address from which torch's master is reached, and a
/// port that is free.
std::string place_for_hosts(Port& port) {
  std::string address;
  const char* const given = std::getenv("CHASQUI_ADDRESS");
  const char* const master = std::getenv("MASTER_ADDR");
  sockaddr_in own{};
  socklen_t length = sizeof own;
  const auto text_of = [&] {
    char text[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
    return std::string(text);
  };
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  if (given != nullptr && *given != '\0') {
    address = given;
  } else if (master != nullptr && getaddrinfo(master, "1", &hints, &found) == 0) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (connect(socket, found->ai_addr, found->ai_addrlen) == 0 &&
        getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) == 0)
      address = text_of();
    close(socket);
    freeaddrinfo(found);
  }
  if (address.empty() || address.rfind("127.", 0) == 0)
    throw std::runtime_error(
        "chasqui: the ranks are on several hosts, and it is not known by which address they reach that of rank 0: set "
        "CHASQUI_ADDRESS there");
  const int number = port.take(address);
  if (number == 0)
    throw std::runtime_error("chasqui: " + address +
                             " is no IPv4 address of rank 0's host: set CHASQUI_ADDRESS to one there");
  return "tcp://" + address + ":" + std::to_string(number);
}

/// The ranks meet at a place that rank 0 tells the others through torch's store, with a password; or why there is none.
c10::intrusive_ptr<Base> make_group(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                    std::chrono::milliseconds timeout) {
  const auto tell = [&](const std::string& key, const std::string& text) {
    store->set(key, std::vector<std::uint8_t>(text.begin(), text.end()));
  };
  const auto ask = [&](const std::string& key) {
    const std::vector<std::uint8_t> text = store->get(key);
    return std::string(text.begin(), text.end());
  };
  Port port;  // held until rank 0 listens there
  if (rank != 0) {
    tell("chasqui/" + std::to_string(rank), this_host());
  } else {
    try {
      bool several = false;
      for (int r = 1; r < size; ++r) several = ask("chasqui/" + std::to_string(r)) != this_host() || several;
      tell("chasqui", random_name() + " " + (several ? place_for_hosts(port) : "unix:@chasqui-torch-" + random_name()));
    } catch (const std::exception& error) {
      tell("chasqui", std::string("! ") + error.what());
      std::vector<std::string> heard;
      for (int r = 1; r < size; ++r) heard.push_back("chasqui/heard/" + std::to_string(r));
      try {
        store->wait(heard, 10s);  // the store may end with this process
      } catch (const std::exception&) {
      }
      throw;
    }
  }
  const std::string told = ask("chasqui");
  if (told[0] == '!') {
    tell("chasqui/heard/" + std::to_string(rank), "");
    throw std::runtime_error(told.substr(2));
  }
  std::istringstream words(told);
  std::string secret, place;
  words >> secret >> place;
  chasqui_join_options options = CHASQUI_JOIN_OPTIONS;
  options.rank = rank;
  options.size = size;
  options.rendezvous = place.c_str();
  options.secret = secret.c_str();
  options.timeout = options.patience = std::chrono::duration<double>(timeout).count();
  chasqui_comm* comm = nullptr;
  check(chasqui_join(&options, &comm));
  return c10::make_intrusive<Group>(rank, size, comm);
}

}  // namespace

PYBIND11_MODULE(_torch, module) {
  pthread_atfork(nullptr, nullptr, [] { ++forks; });
  module.def("make_group", &make_group, pybind11::call_guard<pybind11::gil_scoped_release>());
}
