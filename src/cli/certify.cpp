// SPDX-License-Identifier: MIT
// chasqui certify: re-creates the finite certificates behind claims about every P.
#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream_certificate.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"

namespace chasqui::cli {
namespace {

class CertifyCommand final : public Command {
 public:
  CertifyCommand() : Command("certify", "re-create the finite certificate behind a claim about every P") {
    describe(
        "certify streams: balances every base case of each latency L and checks the books. With all of them "
        "balanced, "
        "composition gives a stream of delay L + B(P-1) for every P (docs/streams.md). L = 1 and L = 2 need "
        "none. "
        "Exit status 1 if a base case has no solution.");
    positional("WHAT", &what_, "what to certify").required().choices({"streams"});
    option("--from", "L", &from_, "the first latency; default 3");
    option("--to", "L", &to_, "the last latency; default 24");
    example("chasqui certify streams --from 3 --to 100",
            "every P for all latencies up to 100: a few minutes");
  }

  int run(Output& out) override {
    if (from_ < 3 || to_ > 200 || from_ > to_) {
      throw Error("--from {} --to {} is not a range within 3..200", from_, to_);
    }
    std::int64_t failures = 0;
    std::int64_t cases = 0;
    Progress bar("certifying");
    for (std::int64_t L = from_; L <= to_; ++L) {
      const auto certificate = plan::certify_streams(L);
      cases += certificate.cases;
      failures += certificate.holds() ? 0 : 1;
      out.print("L={:<4} composed from t={:<4} K={:<4} {:>6} base cases  {}\n", L, certificate.first,
                certificate.K, certificate.cases,
                certificate.holds() ? out.good("every P") : out.bad("fails at " + certificate.failure));
      out.flush();
      bar(static_cast<double>(L - from_ + 1) / static_cast<double>(to_ - from_ + 1));
    }
    out.print("{} base cases, {} latencies without a certificate\n", cases, failures);
    return failures == 0 ? 0 : 1;
  }

 private:
  std::string what_;
  std::int64_t from_ = 3;
  std::int64_t to_ = 24;
};

}  // namespace

CommandPtr make_certify_command() {
  return std::make_unique<CertifyCommand>();
}

}  // namespace chasqui::cli
