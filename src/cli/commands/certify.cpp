// SPDX-License-Identifier: MIT
// chasqui certify: re-creates the finite certificates behind claims about every P.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream_certificate.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {
namespace {

class CertifyCommand final : public Command {
 public:
  CertifyCommand() : Command("certify", "check again that streams reach the least delay for every P") {
    describe(
        "Chasqui has a stream (a broadcast without end) of the least delay, L + B(P-1), for every P, if finitely "
        "many base cases of that L have a solution. All others are composed from them (docs/streams.md). This "
        "command solves the base cases once more and checks them. L = 1 and L = 2 have none. Exit status 1 if a "
        "base case has no solution.");
    positional("WHAT", &what_, "what to certify").required().choices({"streams"});
    option("--from", "L", &from_, "the first latency; default 3");
    option("--to", "L", &to_, "the last latency; default 24");
    option("--threads", "N", &threads_, "threads; default 1");
    example("chasqui certify streams --from 3 --to 100 --threads 16",
            "every P for all latencies up to 100: about 3 minutes of CPU time");
    example("chasqui certify streams --from 81 --to 100", "a part of it; parts can run anywhere");
  }

  int run(Output& out) override {
    constexpr std::int64_t kMost = 1024;
    if (from_ < 3 || to_ > 200 || from_ > to_) {
      throw Error("--from {} --to {} is not a range within 3..200", from_, to_);
    }
    if (threads_ < 1 || threads_ > kMost) throw Error("--threads {}: use 1..{}", threads_, kMost);
    const auto count = static_cast<std::size_t>(to_ - from_ + 1);
    std::vector<std::optional<plan::StreamCertificate>> done(count);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::condition_variable news;
    const auto worker = [&] {
      for (std::size_t i = next++; i < count; i = next++) {
        auto certificate = plan::certify_streams(from_ + static_cast<std::int64_t>(i));
        const std::lock_guard lock(mutex);
        done[i] = std::move(certificate);
        news.notify_one();
      }
    };
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < threads_; ++i) threads.emplace_back(worker);
    std::int64_t failures = 0;
    std::int64_t cases = 0;
    {
      Progress bar("balancing base cases");
      for (std::size_t i = 0; i < count; ++i) {
        std::unique_lock lock(mutex);
        news.wait(lock, [&] { return done[i].has_value(); });
        const plan::StreamCertificate certificate = *done[i];
        lock.unlock();
        cases += certificate.cases;
        failures += certificate.holds() ? 0 : 1;
        out.print("L={:<4} composed from t={:<4} K={:<4} {:>6} base cases  {}\n", certificate.L, certificate.first,
                  certificate.K, certificate.cases,
                  certificate.holds() ? out.good("every P") : out.bad("fails at " + certificate.failure));
        out.flush();
        bar(share(from_ + static_cast<std::int64_t>(i)));
      }
    }
    for (std::thread& thread : threads) thread.join();
    out.print("{} base cases, {} latencies without a certificate\n", cases, failures);
    return failures == 0 ? 0 : 1;
  }

 private:
  /// How much of the work is done when this latency is: the effort grows about as its fourth power.
  double share(std::int64_t L) const {
    const auto effort = [](std::int64_t x) { return static_cast<double>(x) * static_cast<double>(x * x * x); };
    return (effort(L) - effort(from_ - 1)) / (effort(to_) - effort(from_ - 1));
  }

  std::string what_;
  std::int64_t from_ = 3;
  std::int64_t to_ = 24;
  std::int64_t threads_ = 1;
};

}  // namespace

CommandPtr make_certify_command() { return std::make_unique<CertifyCommand>(); }

}  // namespace chasqui::cli
