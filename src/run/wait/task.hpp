// SPDX-License-Identifier: MIT
// A collective in progress is a coroutine: it runs until it must wait, and says what for. Blocking and non-blocking
// calls are then the same source: the one polls until the end, the other whenever it is tested.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

namespace chasqui::run {

/// What a suspended task waits for. Lives in the coroutine frame.
class Waiting {
 public:
  virtual bool ready() = 0;  ///< may the coroutine go on?
  /// Blocks until ready() will say yes, where the transport can; the default returns at once.
  virtual void block() {}

  bool await_ready() { return ready(); }  ///< co_await: goes on at once if it may
  /// Leaves word with the executor: who waits, and for what.
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) {
    caller.promise().progress->leaf = caller;
    caller.promise().progress->waiting = this;
  }
  void await_resume() const {}  ///< a wait has no result

  /// Grows when ready() said no, but what is waited for has come nearer.
  std::uint64_t moved() const { return moved_; }

 protected:
  ~Waiting() = default;

  std::uint64_t moved_ = 0;
};

/// Shared by a task and the tasks it awaits: who runs next and what the innermost one waits for.
struct Progress {
  std::coroutine_handle<> leaf;  ///< innermost coroutine, the one that waits
  Waiting* waiting = nullptr;    ///< what it waits for
};
/// A piece of a collective as a coroutine: it stops where it would wait.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    Progress* progress = nullptr;
    std::coroutine_handle<> parent;
    std::exception_ptr error;

    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        auto above = self.promise().parent;
        return above ? above : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  using Handle = std::coroutine_handle<promise_type>;  ///< for the executor

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}                           ///< made by calling a coroutine
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}  ///< takes over
  /// Takes over; what this one had is destroyed.
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  /// Awaiting a task runs it at once, inside the progress of the awaiting one.
  bool await_ready() const { return false; }
  Handle await_suspend(Handle caller) {
    handle_.promise().progress = caller.promise().progress;
    handle_.promise().parent = caller;
    return handle_;
  }
  void await_resume() const {
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
  }

  Handle handle() const { return handle_; }  ///< for the executor

 private:
  Handle handle_;
};

/// co_await until(predicate): goes on when the predicate says true.
template <typename Predicate>
class Until final : public Waiting {
 public:
  explicit Until(Predicate predicate) : predicate_(std::move(predicate)) {}  ///< waits until the predicate says yes
  bool ready() override { return predicate_(); }                             ///< asks the predicate

 private:
  Predicate predicate_;
};
/// Co_await until([&] { return … })
template <typename Predicate>
Until<Predicate> until(Predicate predicate) {
  return Until<Predicate>(std::move(predicate));
}

/// The outermost task with its progress. Neither copied nor moved: the tasks point into it.
class Activity {
 public:
  /// Starts the task; nothing runs before resume().
  explicit Activity(Task task) : task_(std::move(task)) {
    progress_.leaf = task_.handle();
    task_.handle().promise().progress = &progress_;
  }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Runs as far as it can. True when it has ended; rethrows what the task threw.
  bool poll() {
    if (Waiting* const waiting = progress_.waiting; waiting != nullptr) {
      const std::uint64_t before = waiting->moved();
      if (!waiting->ready()) {
        moved_ += waiting->moved() - before;
        return false;
      }
    }
    progress_.waiting = nullptr;
    ++moved_;
    progress_.leaf.resume();
    if (!task_.handle().done()) return false;
    task_.await_resume();
    return true;
  }
  Waiting* waiting() const { return progress_.waiting; }  ///< what it waits for now
  std::uint64_t moved() const { return moved_; }          ///< grows when something did

 private:
  Task task_;
  Progress progress_;
  std::uint64_t moved_ = 0;
};

}  // namespace chasqui::run
