// SPDX-License-Identifier: MIT
#include "chasqui/run/measure.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "chasqui/base/error.hpp"
#include "chasqui/run/backoff.hpp"

namespace chasqui::run {
namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

void finish(Transport& transport, Transport::Ticket ticket) {
  if (transport.blocks()) transport.wait(ticket);
  Backoff backoff(available_cores() < 2 || transport.size() > available_cores());
  while (!transport.done(ticket)) backoff.pause();
}

constexpr std::uint32_t kTag = 32'100;  ///< no collective uses it

/// Messages between rank 0 and its partner; everybody else passes by.
class Pair {
 public:
  Pair(Comm& comm, int partner) : transport_(*comm.messages()), rank_(comm.rank()), partner_(partner) {}

  bool takes_part() const { return rank_ == 0 || rank_ == partner_; }
  int other() const { return rank_ == 0 ? partner_ : 0; }
  void send(const void* data, std::size_t bytes) { finish(transport_, transport_.send(other(), kTag, data, bytes)); }
  void receive(void* data, std::size_t bytes) { finish(transport_, transport_.receive(other(), kTag, data, bytes)); }

  /// Half a round trip of `bytes`; at rank 0.
  double half_trip(std::vector<std::byte>& buffer, std::size_t bytes) {
    if (rank_ == 0) {
      const double start = now();
      send(buffer.data(), bytes);
      receive(buffer.data(), bytes);
      return (now() - start) / 2;
    }
    receive(buffer.data(), bytes);
    send(buffer.data(), bytes);
    return 0;
  }
  /// What the sender spends on one short message; at rank 0. The partner takes it later.
  double send_overhead() {
    std::byte byte{};
    if (rank_ != 0) {
      receive(&byte, 1);
      send(&byte, 1);
      return 0;
    }
    const double start = now();
    const auto ticket = transport_.send(partner_, kTag, &byte, 1);
    const double spent = now() - start;
    finish(transport_, ticket);
    receive(&byte, 1);
    return spent;
  }
  /// What the receiver spends on a message that is there already; at rank 0.
  double receive_overhead(double patience) {
    std::byte byte{};
    if (rank_ != 0) {
      receive(&byte, 1);
      send(&byte, 1);
      return 0;
    }
    send(&byte, 1);
    for (const double until = now() + patience; now() < until;) cpu_relax();
    const double start = now();
    receive(&byte, 1);
    return now() - start;
  }
  /// Time per message of a burst; at rank 0.
  double gap(int burst) {
    std::vector<std::byte> data(static_cast<std::size_t>(burst));
    std::vector<Transport::Ticket> tickets;
    const double start = now();
    for (int i = 0; i < burst; ++i) {
      std::byte* at = data.data() + i;
      tickets.push_back(rank_ == 0 ? transport_.send(partner_, kTag, at, 1) : transport_.receive(0, kTag, at, 1));
    }
    for (const auto ticket : tickets) finish(transport_, ticket);
    std::byte byte{};
    if (rank_ == 0) receive(&byte, 1);
    else send(&byte, 1);
    return (now() - start) / burst;
  }

 private:
  Transport& transport_;
  int rank_, partner_;
};

/// Repeats a measurement of rank 0 for a share of the time; all ranks agree on when to stop.
template <typename Body>
std::vector<double> repeat(Comm& comm, double seconds, Body body) {
  std::vector<double> samples;
  const double until = now() + seconds * 1e9;
  for (int go = 1; go != 0;) {
    for (int i = 0; i < 8; ++i) samples.push_back(body());
    go = now() < until || samples.size() < 40 ? 1 : 0;
    comm.broadcast(go, 0);
  }
  return samples;
}

Estimate less(const Estimate& a, double b) {
  const auto positive = [](double x) { return std::max(x, 0.0); };
  return {positive(a.value - b), positive(a.low - b), positive(a.high - b)};
}

double bytes_share(const std::vector<std::pair<std::int64_t, double>>& times) {
  const auto& [small, t0] = times.front();
  const auto& [large, t1] = times.back();
  return std::max(1e-6, (t1 - t0) / static_cast<double>(large - small));
}

std::string today() {
  char text[32];
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

Estimate median_of(std::vector<double> samples) {
  CHASQUI_CHECK(!samples.empty(), "no samples ({})", samples.size());
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of a fair coin's n throws
  const auto at = [&](double i) { return samples[static_cast<std::size_t>(std::clamp(i, 0.0, n - 1))]; };
  return {at(n / 2), at(std::floor(n / 2 - half)), at(std::ceil(n / 2 + half))};
}

std::vector<std::int64_t> switches_in(const std::vector<std::pair<std::int64_t, double>>& times) {
  std::vector<std::int64_t> found;
  for (std::size_t i = 2; i < times.size(); ++i) {
    const auto& [m0, t0] = times[i - 2];
    const auto& [m1, t1] = times[i - 1];
    const auto& [m2, t2] = times[i];
    const double slope = std::max(0.0, (t1 - t0) / static_cast<double>(m1 - m0));
    const double announced = t1 + slope * static_cast<double>(m2 - m1);
    if (t2 > 1.5 * announced && t2 > 1.25 * t1 * static_cast<double>(m2) / static_cast<double>(m1) / 2) found.push_back(m1);
  }
  return found;
}

Level measure_messages(Comm& comm, const std::string& name, int partner, const MeasureOptions& options) {
  Level level;
  level.name = name;
  level.ranks = comm.size();
  Pair pair(comm, partner);
  const auto sample = [&](auto body) { return pair.takes_part() ? body() : 0.0; };
  const double share = options.seconds / 16;
  const auto tell = [&](double done, const std::string& what) {
    if (comm.rank() == 0 && options.progress) options.progress(done, what);
  };
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  tell(0, name + ": latency");
  for (int i = 0; i < 20; ++i) sample([&] { return pair.half_trip(buffer, 8); });
  const Estimate trip = median_of(repeat(comm, 2 * share, [&] { return sample([&] { return pair.half_trip(buffer, 8); }); }));
  tell(0.15, name + ": overheads");
  level.o_s = median_of(repeat(comm, share, [&] { return sample([&] { return pair.send_overhead(); }); }));
  double patience = 4 * trip.value + 2000;
  comm.broadcast(patience, 0);
  level.o_r = median_of(repeat(comm, share, [&] { return sample([&] { return pair.receive_overhead(patience); }); }));
  tell(0.3, name + ": gap");
  level.g = median_of(repeat(comm, share, [&] { return sample([&] { return pair.gap(64); }); }));
  std::vector<std::pair<std::int64_t, double>> times;
  for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 4) {
    tell(0.3 + 0.05 * static_cast<double>(times.size()), name + ": gap per byte");
    for (const std::int64_t size : {bytes, 2 * bytes}) {
      if (size > 1 << 20) continue;
      const auto samples = repeat(comm, share / 4, [&] {
        return sample([&] { return pair.half_trip(buffer, static_cast<std::size_t>(size)); });
      });
      times.emplace_back(size, median_of(samples).value);
      if (size == 1 << 20) {
        const Estimate longest = median_of(samples);
        const double scale = 1.0 / static_cast<double>((1 << 20) - 8);
        level.G = {bytes_share(times), std::max(0.0, (longest.low - trip.high) * scale), (longest.high - trip.low) * scale};
        level.G.low = std::min(level.G.low, level.G.value);
        level.G.high = std::max(level.G.high, level.G.value);
      }
    }
  }
  level.switches = switches_in(times);
  level.L = less(trip, level.o_s.value + level.o_r.value);
  const double start = trip.value / level.G.value;
  level.B = {start, trip.low / std::max(level.G.high, 1e-9), trip.high / std::max(level.G.low, 1e-9)};
  level.B.low = std::min(level.B.low, start);
  level.B.high = std::max(level.B.high, start);
  tell(0.7, name);
  return level;
}

namespace {

/// One collective with a common start, at rank 0: from the start to the latest finish.
template <typename Body>
double synchronised(Comm& comm, Body body) {
  double start = now() + 30'000;
  comm.broadcast(start, 0);
  while (now() < start) cpu_relax();
  body();
  return comm.allreduce(now(), Maximum{}) - start;
}

}  // namespace

void measure_board(Comm& comm, Level& level, const MeasureOptions& options) {
  const double share = options.seconds / 12;
  if (comm.rank() == 0 && options.progress) options.progress(0.75, level.name + ": publishing");
  double value = 1;
  level.publish = median_of(repeat(comm, share, [&] { return synchronised(comm, [&] { comm.broadcast(value, 0); }); }));
  const Estimate all = median_of(repeat(comm, share, [&] { return synchronised(comm, [&] { comm.allreduce(value); }); }));
  const double others = std::max(1, comm.size() - 1);
  level.publish_per_rank = less(all, level.publish.value);
  for (double* part : {&level.publish_per_rank.value, &level.publish_per_rank.low, &level.publish_per_rank.high}) *part /= others;
  std::vector<std::byte> data(std::size_t{1} << 20);
  const Estimate whole = median_of(repeat(comm, share, [&] {
    return synchronised(comm, [&] { comm.broadcast(std::span<std::byte>(data), 0); });
  }));
  level.copy = less(whole, level.publish.value);
  for (double* part : {&level.copy.value, &level.copy.low, &level.copy.high}) *part /= static_cast<double>(data.size());
}

void measure_bsp(Comm& comm, Profile& profile, const MeasureOptions& options) {
  if (comm.rank() == 0 && options.progress) options.progress(0.92, "supersteps");
  Transport& transport = *comm.messages();
  const int size = comm.size();
  const auto superstep = [&](int h) {
    return synchronised(comm, [&] {
      std::vector<std::uint64_t> out(static_cast<std::size_t>(h)), in(out.size());
      std::vector<Transport::Ticket> tickets;
      for (int i = 0; i < h; ++i) {
        const int shift = 1 + i % (size - 1);
        tickets.push_back(transport.receive((comm.rank() - shift + size) % size, kTag + 1, &in[static_cast<std::size_t>(i)], 8));
        tickets.push_back(transport.send((comm.rank() + shift) % size, kTag + 1, &out[static_cast<std::size_t>(i)], 8));
      }
      for (const auto ticket : tickets) finish(transport, ticket);
      comm.barrier();
    });
  };
  const int h = 32;
  const double share = options.seconds / 16;
  const Estimate one = median_of(repeat(comm, share, [&] { return superstep(1); }));
  const Estimate many = median_of(repeat(comm, share, [&] { return superstep(h); }));
  const auto slope = [&](double a, double b) { return std::max(0.0, (a - b) / (h - 1)); };
  profile.bsp_g = {slope(many.value, one.value), slope(many.low, one.high), slope(many.high, one.low)};
  profile.bsp_L = less(one, profile.bsp_g.value);
}

Profile measure(Comm& comm, const MeasureOptions& options) {
  if (comm.size() < 2) throw Error("measuring needs two ranks or more; this communicator has {}", comm.size());
  if (comm.messages() == nullptr) throw Error("measuring needs messages between the ranks");
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  Profile profile;
  profile.host = host;
  profile.when = today();
  const auto& terrain = comm.terrain();
  if (terrain.board && terrain.nodes == 1) {
    Level node = measure_messages(comm, "node", comm.size() - 1, options);
    measure_board(comm, node, options);
    Level network = node;  // nothing else was there to measure: messages inside the node stand in
    network.name = "network";
    profile.levels = {node, network};
  } else {
    const Profile guess = default_profile();
    profile.levels = {*guess.level("node"), measure_messages(comm, "network", comm.size() - 1, options)};
  }
  measure_bsp(comm, profile, options);
  if (comm.rank() == 0 && options.progress) options.progress(1, "done");
  return profile;
}

}  // namespace chasqui::run
