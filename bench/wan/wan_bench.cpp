// SPDX-License-Identifier: MIT
// Chasqui against an MPI library's default and all its algorithms that can be forced, where latency counts.
//   wan_bench [--rounds 15] [--sizes 8,65536] [--kinds broadcast,reduce,allreduce,barrier] [--profile FILE]
// Without --profile the network is measured first.
// All processes on one machine with one clock (network namespaces): everybody starts at an agreed time, the latest finish
// counts, rounds of all rivals alternate; a round that somebody began late is dropped. Prints lines
//   ROW kind bytes who rounds q1_us median_us q3_us
// and DONE at the end.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/estimate.hpp"
#include "forced.hpp"
#include "run/message_probe.hpp"

using chasqui::Kind;

namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void sleep_until(double when) {
  timespec t{};
  t.tv_sec = static_cast<time_t>(when / 1e9);
  t.tv_nsec = static_cast<long>(when - static_cast<double>(t.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) list.push_back(word);
  return list;
}

/// `senders` ranks send one word to each of h others: nanoseconds from a common start until the last has arrived.
double words(chasqui::run::Comm& comm, int h, int senders) {
  auto& transport = *comm.messages();
  const int size = comm.size();
  std::vector<std::uint64_t> out(static_cast<std::size_t>(h)), in(out.size());
  std::vector<chasqui::run::Transport::Ticket> tickets;
  double start = now() + 1e8;
  MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sleep_until(start);
  for (int i = 0; i < h; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int from = (comm.rank() - 1 - i + size) % size;
    if (from < senders) tickets.push_back(transport.receive(from, 1, &in[at], 8));
    if (comm.rank() < senders) tickets.push_back(transport.send((comm.rank() + 1 + i) % size, 1, &out[at], 8));
  }
  for (const auto ticket : tickets) chasqui::run::finish(transport, ticket);
  double end = now();
  MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return end - start;
}

/// What each further word costs.
chasqui::Estimate word_gap(chasqui::run::Comm& comm, int senders) {
  const int h = comm.size() - 1;
  std::vector<double> slopes;
  words(comm, h, senders);
  for (int i = 0; i < 9; ++i) {
    const double one = words(comm, 1, senders);
    slopes.push_back(std::max(0.0, words(comm, h, senders) - one) / std::max(1, h - 1));
  }
  return chasqui::run::median_of(std::move(slopes));
}

/// What `chasqui measure --mpi` measures of messages and supersteps, without its table of collectives: that would take
/// minutes where a message takes milliseconds.
chasqui::Profile measured(int rounds) {
  const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD);
  chasqui::run::MessageProbe probe(*comm, comm->size() - 1);
  const auto median = [](double, const std::function<double()>& sample) {
    std::vector<double> samples;
    for (int i = 0; i < 7; ++i) samples.push_back(sample());
    return chasqui::run::median_of(std::move(samples)).value;
  };
  std::vector<chasqui::run::MessageRound> list;
  for (int i = 0; i < rounds; ++i) list.push_back(message_round(probe, median));
  chasqui::Profile profile = chasqui::default_profile();
  profile.levels[1] = level_of("network", list);
  // Collectives send to different ranks: their gap, not that of a burst to one partner.
  profile.levels[1].g = word_gap(*comm, 1);
  profile.bsp_g = word_gap(*comm, comm->size());
  return profile;
}

/// The profile that rank 0 measured or read, everywhere.
std::shared_ptr<const chasqui::Profile> shared_profile(const std::string& file, int rounds) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text;
  if (!file.empty()) {
    if (rank == 0) text = to_json(chasqui::read_profile(file));
  } else {
    const chasqui::Profile profile = measured(rounds);
    if (rank == 0) text = to_json(profile);
  }
  unsigned long length = text.size();
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  return std::make_shared<const chasqui::Profile>(chasqui::profile_from_json(text, "the measured profile"));
}

struct Rival {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;  ///< null: ours
  forced::Algorithm algorithm;
  double slot = 0;                ///< nanoseconds that a round may take
  int every = 1;                  ///< takes part in every n-th round: those far behind need few
  std::vector<double> spans;      ///< of this rank, then of the latest
  std::vector<double> late;
};

class Bench {
 public:
  Bench(chasqui::run::Comm& ours, int rounds) : ours_(ours), rounds_(rounds) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  void compare(Kind kind, std::size_t bytes) {
    in_.assign(bytes / sizeof(double), 1.0 + rank_);
    out_.assign(in_.size(), kind == Kind::broadcast && rank_ == 0 ? 1.0 : 0.0);
    call_ = {};
    call_.kind = kind;
    call_.in = in_.data();
    call_.out = out_.data();
    call_.count = static_cast<std::int64_t>(in_.size());
    call_.layout.element = sizeof(double);
    call_.op = chasqui::run::operator_of<double>(sum_, true);
    const auto choice = ours_.choices_for(call_).front();
    std::vector<Rival> rivals(1);
    rivals[0].name = fmt::format("ours {}({})", to_string(choice.method), choice.parts);
    for (const auto& algorithm : forced::algorithms(kind, bytes, size_)) {
      Rival rival;
      rival.name = algorithm.name;
      rival.algorithm = algorithm;
      forced::force(kind, algorithm);
      MPI_Comm_dup(MPI_COMM_WORLD, &rival.comm);
      MPI_Comm_set_errhandler(rival.comm, MPI_ERRORS_RETURN);
      rivals.push_back(rival);
    }
    forced::force(kind, {});
    for (auto& rival : rivals) warm(rival);
    std::erase_if(rivals, [](Rival& rival) {
      if (rival.slot >= 0) return false;
      return MPI_Comm_free(&rival.comm) == MPI_SUCCESS;
    });
    alternate(rivals);
    if (rank_ == 0) print(rivals, kind, bytes, choice.nanoseconds);
    for (auto& rival : rivals) {
      if (rival.comm != MPI_COMM_NULL) MPI_Comm_free(&rival.comm);
    }
  }

 private:
  int once(const Rival& rival) {
    if (rival.comm == MPI_COMM_NULL) {
      ours_.run(call_);
      return MPI_SUCCESS;
    }
    const int count = static_cast<int>(in_.size());
    switch (call_.kind) {
      case Kind::broadcast: return MPI_Bcast(out_.data(), count, MPI_DOUBLE, 0, rival.comm);
      case Kind::reduce: return MPI_Reduce(in_.data(), out_.data(), count, MPI_DOUBLE, MPI_SUM, 0, rival.comm);
      case Kind::allreduce: return MPI_Allreduce(in_.data(), out_.data(), count, MPI_DOUBLE, MPI_SUM, rival.comm);
      default: return MPI_Barrier(rival.comm);
    }
  }
  bool right() const {
    const double all = static_cast<double>(size_) * (size_ + 1) / 2;
    const bool counts = call_.kind == Kind::allreduce || (call_.kind == Kind::reduce && rank_ == 0);
    const double expected = call_.kind == Kind::broadcast ? 1.0 : all;
    return (!counts && call_.kind != Kind::broadcast) ||
           std::all_of(out_.begin(), out_.end(), [&](double value) { return value == expected; });
  }
  /// Connections and windows grow; the slot is what it took, with a margin. Negative: refused or wrong.
  void warm(Rival& rival) {
    forced::force(call_.kind, rival.algorithm);
    double longest = 0;
    int failed = 0;
    for (int i = 0; i < 3; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (call_.kind != Kind::broadcast || rank_ != 0) std::fill(out_.begin(), out_.end(), 0.0);
      const double start = now();
      const int code = once(rival);
      const double span = now() - start;
      if (code != MPI_SUCCESS || !right()) failed = 1;
      if (i > 0) longest = std::max(longest, span);
    }
    MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (failed != 0 && rank_ == 0) std::printf("REFUSED %s %s\n", forced::word(call_.kind).c_str(), rival.name.c_str());
    rival.slot = failed != 0 ? -1 : 1.5 * longest + 4e6;
  }

  void alternate(std::vector<Rival>& rivals) {
    double start = now() + 5e8;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (auto& rival : rivals) {
      if (rival.slot > 2.5 * rivals[0].slot && rival.name != "default") rival.every = 3;
    }
    for (int round = 0; round < rounds_; ++round) {
      for (std::size_t i = 0; i < rivals.size(); ++i) {  // another one begins each round
        auto& rival = rivals[(i + 5 * static_cast<std::size_t>(round)) % rivals.size()];
        if (round % rival.every != 0) continue;
        forced::force(call_.kind, rival.algorithm);
        sleep_until(start);
        rival.late.push_back(now() - start);
        once(rival);
        rival.spans.push_back(now() - start);
        start += rival.slot;
      }
    }
    forced::force(call_.kind, {});
    for (auto& rival : rivals) {
      for (auto* list : {&rival.spans, &rival.late}) {
        std::vector<double> latest(list->size());
        MPI_Reduce(list->data(), latest.data(), static_cast<int>(latest.size()), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        *list = latest;
      }
    }
  }

  void print(std::vector<Rival>& rivals, Kind kind, std::size_t bytes, double predicted) const {
    for (auto& rival : rivals) {
      std::vector<double> good;
      for (std::size_t i = 0; i < rival.spans.size(); ++i) {
        if (rival.late[i] < 1e6) good.push_back(rival.spans[i]);
      }
      if (good.empty()) good = rival.spans;
      std::sort(good.begin(), good.end());
      const auto at = [&](double q) { return good[static_cast<std::size_t>(q * static_cast<double>(good.size() - 1))] / 1000; };
      std::printf("ROW,%s,%zu,%s,%zu,%.1f,%.1f,%.1f,%.1f\n", std::string(to_string(kind)).c_str(), bytes, rival.name.c_str(),
                  good.size(), at(0.25), at(0.5), at(0.75), rival.comm == MPI_COMM_NULL ? predicted / 1000 : 0.0);
    }
    std::fflush(stdout);
  }

  chasqui::run::Comm& ours_;
  int rounds_;
  int rank_ = 0, size_ = 1;
  chasqui::run::Sum sum_;
  chasqui::run::Call call_;
  std::vector<double> in_, out_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::map<std::string, std::string> options = {{"--rounds", "15"}, {"--sizes", "8,65536"}, {"--profile", ""},
                                                {"--probes", "3"}, {"--kinds", "broadcast,reduce,allreduce,barrier"}};
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const forced::Variables variables;
    chasqui::mpi::Options how;
    how.profile = shared_profile(options["--profile"], std::stoi(options["--probes"]));
    how.native = false;
    if (const auto* level = how.profile->level("network"); rank == 0 && level != nullptr) {
      std::printf("PROFILE L %.1f o_s %.1f o_r %.1f g %.1f bsp.g %.1f us, G %.3f ns/B, switches", level->L.value / 1e3, level->o_s.value / 1e3,
                  level->o_r.value / 1e3, level->g.value / 1e3, how.profile->bsp_g.value / 1e3, level->G.value);
      for (const auto size : level->switches) std::printf(" %ld", static_cast<long>(size));
      std::printf("\n");
      std::fflush(stdout);
    }
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD, how);
    Bench bench(*comm, std::stoi(options["--rounds"]));
    for (const auto& name : words(options["--kinds"])) {
      const Kind kind = chasqui::kind_from(name).value_or(Kind::barrier);
      for (const auto& size : words(kind == Kind::barrier ? "0" : options["--sizes"])) {
        bench.compare(kind, std::stoul(size));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      std::printf("DONE\n");
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wan_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}
