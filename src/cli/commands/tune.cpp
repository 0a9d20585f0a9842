// SPDX-License-Identifier: MIT
// chasqui tune: a tuning file for the MPI library that is there.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "chasqui/base/clock.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/show/page.hpp"
#include "chasqui/tune/cliffs.hpp"
#include "chasqui/tune/tuner.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/progress.hpp"
#include "cli/launch/engine.hpp"

namespace chasqui::cli {
namespace {

/// What was found at a size that no race had seen.
struct Check {
  std::string collective;
  std::int64_t bytes;
  tune::Algorithm ours, best;
  double plain, own, least, predicted;  ///< nanoseconds: of the default, of ours, of the best of all
  double regret;  ///< own / least - 1; where one algorithm has to do for all sizes, in the mean of them
};

std::string name_of(const tune::Algorithm& algorithm) {
  return algorithm.number == 0 ? "default" : to_string(algorithm);
}

/// 0.7, 3.2, 41
std::string in_figures(double value) { return fmt::format(fmt::runtime(value < 9.95 ? "{:.1f}" : "{:.0f}"), value); }

/// The geometric mean of how much faster ours is, the mean and the worst regret.
struct Summary {
  double gain = 1, mean = 0, worst = 0;

  explicit Summary(const std::vector<Check>& checks) {
    if (checks.empty()) return;
    double logs = 0;
    for (const Check& check : checks) {
      logs += std::log(check.plain / check.own);
      mean += check.regret / static_cast<double>(checks.size());
      worst = std::max(worst, check.regret);
    }
    gain = std::exp(logs / static_cast<double>(checks.size()));
  }
};

constexpr int kThorough = 100;  ///< calls of each that benchmarks make at the least, by default
/// Calls of each size that OSU's benchmarks of collectives make by default, those that warm up among them (docs/tune.md).
constexpr std::int64_t kOsuLarge = 8192;
constexpr double kOsuCalls = 1100, kOsuLargeCalls = 110;
constexpr double kBetweenFiles = 0.5e9;  ///< nanoseconds: who stops a run loses the races of so long
constexpr double kMargin = 1.3;          ///< times what is expected of a call: its first slot
constexpr std::size_t kMany = 8;         ///< calls whose lower quartile says something
constexpr double kPrecious = 300e3;      ///< nanoseconds: calls that take as long are not made to warm up
constexpr double kTimeOfEach =
    2e6;  ///< nanoseconds that the calls of one algorithm in a race may take together, unless that is too few of them
constexpr double kSettled = 0.01;  ///< of a time: known so well it needs no more calls

class TuneCommand final : public Command {
 public:
  TuneCommand() : Command("tune", "write a tuning file for the MPI library: which of its algorithms for which size") {
    describe(
        "An MPI library has several algorithms for each collective and does not always take the best. This finds "
        "out which is fastest at which size, and writes it in the formats that libraries read, with a page that "
        "says what is gained. First the time of every algorithm is predicted; then those that may be the best race "
        "against the library's own choice at a few sizes, all in this one run.\n"
        "--regret then times all algorithms at other sizes and says how far the choice is from the best. That "
        "takes many times as long.");
    flag("--mpi", mpi_, "tune the library of the MPI run this is part of: mpirun -np 8 chasqui tune --mpi (required)");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure --mpi` (default: measured first)")
        .file();
    option("--seconds", "S", &seconds_, "how long to measure the machine, without --machine (default 0.2)");
    option("--kinds", "LIST", &kinds_, "only these collectives, separated by commas: broadcast,allreduce,…");
    option("--largest", "BYTES", &largest_, "largest size, of one rank or of all blocks together (default 1048576)");
    option("--most", "N", &most_, "how many algorithms race at a size, unless all together take no time (default 4)");
    option("--rounds", "N", &rounds_,
           "calls of each algorithm with --regret; a race has three to as many, more where they are short (default 9)");
    option("--out", "DIR", &out_, "where the files go (default tuned)");
    flag("--commutative", commutative_,
         "Open MPI: also take algorithms that reorder operands; wrong for operations that do not commute");
    flag("--resume", resume_, "keep the races that DIR has, and run the others");
    flag("--regret", regret_, "then time all algorithms at other sizes: how far is the choice from the best?");
    example("mpirun -np 8 chasqui tune --mpi --out tuned",
            "then mpirun --mca coll_tuned_use_dynamic_rules 1 "
            "--mca coll_tuned_dynamic_rules_filename tuned/openmpi.rules …");
  }

  int run(Output& out) override {
    check_seconds(seconds_);
    if (largest_ < 8 || largest_ > std::int64_t{1} << 30)
      throw Error("--largest {} is not in 8..{}", largest_, 1 << 30);
    if (most_ < 1 || most_ > 1000) throw Error("--most {} is not in 1..1000", most_);
    if (rounds_ < 3 || rounds_ > 1000) throw Error("--rounds {} is not in 3..1000", rounds_);
    const std::vector<Kind> kinds = calls_from(kinds_);
    if (!mpi_) throw Error("tune needs the MPI library that it tunes: mpirun -np 8 chasqui tune --mpi");
    const auto engine = mpi_engine(*this);
    if (engine->size() < 2) throw Error("tuning needs two ranks or more: mpirun -np 8 chasqui tune --mpi …");
    options_.library = *engine->library();
    options_.ranks = engine->size();
    options_.largest = largest_;
    options_.commutative = commutative_;
    options_.most = static_cast<std::size_t>(most_);
    speaks_ = engine->speaks();
    from_rank_0(*engine, [&] {
      make_folder(out_);
      return std::string();
    });
    if (resume_) {
      const std::string known = from_rank_0(*engine, [&] {
        return std::filesystem::exists(races()) ? read_file(races(), "leave --resume out") : std::string();
      });
      if (!known.empty()) cells_ = tune::cells_from_csv(known, races(), options_);
      resumed_ = !cells_.empty();
    }
    const double begun = clock_now();
    profile_ = machine_ ? engine->profile(machine_) : measured(*engine);
    profiled_ = (clock_now() - begun) / 1e9;
    Progress bar("tuning", engine->has_terminal());
    engine->run(profile_, [&](run::Comm& comm) {
      measure::CommonStart start(comm);
      double done = 0;
      out.print("{:<21}{:>8} {:>10} {:>10}  fastest\n", "collective", "size", "default", "best");
      make_first(*engine, kinds);
      for (const Kind kind : kinds) {
        tune_one(*engine, comm, start, kind, out);
        bar(++done / static_cast<double>(kinds.size()) * (regret_ ? 0.2 : 1));
      }
      write_races();
      tuned_ = (clock_now() - begun) / 1e9;
      if (!regret_) return forced_.clear();
      done = 0;
      out.print("\n{:<21}{:>8} {:>10} {:>10} {:>10} {:>8}\n", "collective", "size", "default", "ours", "best",
                "regret");
      for (const Kind kind : kinds) {
        check_one(*engine, comm, start, kind, out);
        bar(0.2 + 0.8 * ++done / static_cast<double>(kinds.size()));
      }
      forced_.clear();  // communicators go before MPI ends
    });
    if (!speaks_) return 0;
    write_files();
    say(out);
    return 0;
  }

 private:
  std::string races() const { return out_ + "/races.csv"; }
  void write_races() {
    if (speaks_) replace_file(races(), to_csv(cells_, options_));
    written_ = clock_now();
  }

  ProfilePtr measured(const Engine& engine) const {
    const measure::Measurement found = measure(engine, seconds_, false);
    const std::string text = from_rank_0(engine, [&] { return to_json(found.profile); });
    if (speaks_) write_profile(out_ + "/machine.json", found.profile);
    return std::make_shared<const Profile>(profile_from_json(text, "the measured profile"));
  }

  /// Few calls are judged by their least: ranks that lose their core, and packets that are lost, only ever make them longer. Many are judged by
  /// their lower quartile: what is usual counts, and luck does not.
  static double time_of(const measure::Raced& raced) {
    const std::vector<double>& spans = raced.times.spans;
    if (!raced.works || spans.empty()) return 0;
    return spans.size() < kMany ? *std::min_element(spans.begin(), spans.end()) : raced.times.low;
  }

  static std::string key_of(const tune::Algorithm& algorithm) {
    return fmt::format("{} {} {} {}", algorithm.collective, algorithm.number, algorithm.inner, to_string(algorithm));
  }

  /// Those of all first races at once, one of each collective on a communicator: where latency is high, making one takes longer than a race.
  void make_first(const Engine& engine, const std::vector<Kind>& kinds) {
    std::vector<std::vector<tune::Algorithm>> together;
    for (const Kind kind : kinds) {
      const std::string word(tune::word_of(kind));
      std::size_t slate = 0;
      for (const tune::Race& race : first_races(options_, tune::Forecast(options_, {word, kind}, *profile_, true))) {
        const bool known = tune::cell_of(cells_, word, race.bytes) != nullptr;
        for (const tune::Algorithm& algorithm : race.algorithms) {
          if (known || !forced_.try_emplace(key_of(algorithm)).second) continue;
          if (slate == together.size()) together.emplace_back();
          together[slate++].push_back(algorithm);
        }
      }
    }
    for (const auto& list : together) {
      const auto made = engine.forced_together(list);
      for (std::size_t i = 0; i < list.size(); ++i) forced_[key_of(list[i])] = made[i];
    }
  }
  const measure::Contestant& contestant(const Engine& engine, const tune::Algorithm& algorithm) {
    const auto [found, fresh] = forced_.try_emplace(key_of(algorithm));
    if (fresh) found->second = engine.forced(algorithm);
    return found->second;
  }

  /// Races these algorithms; times in their order, 0 for those that refuse. `expected`: what each may take; empty: nobody knows.
  std::vector<double> race(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind,
                           std::int64_t bytes, const std::vector<tune::Algorithm>& algorithms,
                           const measure::RaceOptions& how, const std::vector<double>& expected = {}) {
    std::vector<measure::Contestant> contestants;
    for (const tune::Algorithm& algorithm : algorithms) contestants.push_back(contestant(engine, algorithm));
    for (std::size_t i = 0; i < expected.size(); ++i) contestants[i].expected = expected[i];
    std::vector<double> times;
    for (const measure::Raced& raced :
         measure::race(comm, start, kind, static_cast<std::size_t>(bytes), contestants, how))
      times.push_back(time_of(raced));
    return times;
  }

  tune::Algorithm default_of(const std::string& word) const {
    return {.library = options_.library, .collective = word};
  }
  /// As many as the times' scatter asks for, of those within a tenth of the fastest.
  measure::RaceOptions few() const {
    return {.precious = kPrecious,
            .few = 3,
            .rounds = static_cast<int>(rounds_),
            .time = kTimeOfEach,
            .most = 8,
            .near = 1.1,
            .settled = kSettled};
  }

  /// What each may take, by its prediction and by how far those were off so far; the default, of whom nobody knows, as the slowest twice.
  std::vector<double> expected(const tune::Forecast& forecast, const tune::Race& race) const {
    double off = 0, known = 0;
    for (const tune::Cell& cell : cells_) {
      for (const tune::Result& result : cell.results) {
        if (result.time <= 0 || result.predicted <= 0) continue;
        off += std::log(result.time / result.predicted);
        ++known;
      }
    }
    const double scale = kMargin * std::exp(known > 0 ? off / known : 0);
    std::vector<double> list;
    double slowest = 0;
    for (const tune::Algorithm& algorithm : race.algorithms) {
      const auto* entry = forecast.of(algorithm, race.bytes);
      list.push_back(entry == nullptr ? 0 : scale * entry->predicted);
      slowest = std::max(slowest, list.back());
    }
    for (double& each : list) each = each == 0 ? 2 * slowest : each;
    return list;
  }

  void tune_one(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind, Output& out) {
    const std::string word(tune::word_of(kind));
    // What the races of other collectives say of the machine, too; of those before this one, also where all are known from a file.
    std::vector<tune::Cell> before;
    for (const tune::Cell& cell : cells_) {
      if (std::find(tuned_words_.begin(), tuned_words_.end(), cell.collective) != tuned_words_.end())
        before.push_back(cell);
    }
    tuned_words_.push_back(word);
    if (!fit_.settled) fit_ = fitted(options_, *profile_, before);
    const tune::Forecast forecast(options_, {word, kind}, fit_.profile, before.empty());
    while (const auto next = next_race(options_, forecast, cells_)) {
      const auto times =
          race(engine, comm, start, kind, next->bytes, next->algorithms, few(), expected(forecast, *next));
      add_results(cells_, forecast, *next, times);
      calls_ += next->algorithms.size();
      if (clock_now() - written_ > kBetweenFiles) write_races();
      const tune::Cell* cell = tune::cell_of(cells_, word, next->bytes);
      if (const tune::Result* best = cell->best(); best != nullptr) {
        out.print("{:<21}{:>8} {:>10} {:>10}  {:.28}\n", word, tune::bytes_in_words(next->bytes),
                  tune::duration(cell->results[0].time), tune::duration(best->time), name_of(best->algorithm));
        out.flush();
      }
    }
    rules_.library = options_.library;
    tune::Choice choice = choose(options_, forecast, cells_);
    if (!choice.steps.empty()) rules_.choices.push_back(choice);
  }

  /// All algorithms at sizes that no race had: brute force. Those that did best and ours run once more, afresh. Where the library cannot tell sizes apart,
  /// the best is the one algorithm that is best in the mean of all sizes: a file can say no more.
  void check_one(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind, Output& out) {
    const std::string word(tune::word_of(kind));
    const auto choice = std::find_if(rules_.choices.begin(), rules_.choices.end(),
                                     [&](const tune::Choice& one) { return one.collective == word; });
    if (choice == rules_.choices.end()) return;
    const auto sizes = tune::unseen_sizes(kind, options_);
    if (sizes.empty()) return;
    const int rounds = static_cast<int>(rounds_);
    std::vector<std::vector<tune::Result>> ran;  // by size
    launches_ += tune::predicted(options_, word, tune::tuned_sizes(kind, options_).back(), *profile_).size();
    for (const std::int64_t bytes : sizes) {
      std::vector<tune::Result>& all = ran.emplace_back(tune::predicted(options_, word, bytes, *profile_));
      std::vector<tune::Algorithm> algorithms;
      for (const tune::Result& result : all) algorithms.push_back(result.algorithm);
      const double begun = clock_now();
      const auto times = race(engine, comm, start, kind, bytes, algorithms,
                              {.few = rounds, .rounds = rounds, .most = 1, .hopeless = 1e9});
      // Brute force looks at every power of two. Calls beyond those that ran count as what they take alone.
      const auto powers = tune::tuned_sizes(kind, options_);
      const double share = static_cast<double>(powers.size()) / static_cast<double>(sizes.size());
      brute_ += share * (clock_now() - begun) / 1e9;
      double calls = 0;  // that benchmarks make, in the mean of all powers
      for (const std::int64_t each : powers)
        calls += (each > kOsuLarge ? kOsuLargeCalls : kOsuCalls) / static_cast<double>(powers.size());
      for (const double time : times) {
        brute_ += share * std::max(0, kThorough - rounds) * time / 1e9;
        benchmarks_ += share * calls * time / 1e9;
      }
      for (std::size_t i = 0; i < times.size(); ++i) all[i].time = times[i];
      std::erase_if(all, [](const tune::Result& result) { return result.time <= 0; });
    }
    if (!tune::tells_sizes(options_.library, word)) {
      // The same order at all sizes: by the mean of those that can do all of them.
      std::vector<tune::Result> means;
      for (const tune::Result& first : ran.front()) {
        double sum = 0;
        std::size_t count = 0;
        for (const auto& all : ran) {
          for (const tune::Result& each : all) {
            if (!(each.algorithm == first.algorithm)) continue;
            sum += std::log(each.time);
            ++count;
          }
        }
        if (count == ran.size()) means.push_back({first.algorithm, std::exp(sum / static_cast<double>(count))});
      }
      ran.assign(sizes.size(), means);
    }
    std::vector<std::vector<tune::Algorithm>> last;
    std::vector<std::vector<double>> again;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      std::sort(ran[s].begin(), ran[s].end(), [](const auto& a, const auto& b) { return a.time < b.time; });
      last.push_back({default_of(word), step_for(*choice, sizes[s]).algorithm});
      for (std::size_t i = 0; i < std::min<std::size_t>(3, ran[s].size()); ++i)
        last.back().push_back(ran[s][i].algorithm);
      again.push_back(race(engine, comm, start, kind, sizes[s], last.back(),
                           {.few = 2 * rounds, .rounds = 2 * rounds, .hopeless = 1e9}));
    }
    if (!tune::tells_sizes(options_.library, word)) return add_checks(*choice, sizes, last, again, out);
    for (std::size_t s = 0; s < sizes.size(); ++s) add_checks(*choice, {sizes[s]}, {last[s]}, {again[s]}, out);
  }

  /// One algorithm for all these sizes: `last` has the same at each, the default and ours first.
  void add_checks(const tune::Choice& choice, const std::vector<std::int64_t>& sizes,
                  const std::vector<std::vector<tune::Algorithm>>& last, const std::vector<std::vector<double>>& again,
                  Output& out) {
    std::vector<double> logs(last.front().size(), 0);
    for (const auto& times : again) {
      for (std::size_t i = 0; i < times.size(); ++i) logs[i] += times[i] > 0 ? std::log(times[i]) : 1e6;
    }
    if (logs[0] > 1e5 || logs[1] > 1e5) return;
    const auto best = static_cast<std::size_t>(std::min_element(logs.begin(), logs.end()) - logs.begin());
    // The same algorithm twice in a race differs by noise alone.
    const std::size_t own = last.front()[1] == last.front()[best] ? best : 1;
    const double regret = std::exp((logs[own] - logs[best]) / static_cast<double>(sizes.size())) - 1;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const auto rounds_sent = rounds_of(last[s][1], options_.ranks, sizes[s]);
      checks_.push_back({choice.collective, sizes[s], last[s][1], last[s][best], again[s][0], again[s][own],
                         again[s][best], rounds_sent ? predict(*rounds_sent, *profile_) : 0, regret});
      const Check& check = checks_.back();
      out.print("{:<21}{:>8} {:>10} {:>10} {:>10} {:>6.1f} %\n", check.collective, tune::bytes_in_words(check.bytes),
                tune::duration(check.plain), tune::duration(check.own), tune::duration(check.least),
                100 * check.regret);
      out.flush();
    }
  }

  void write_files() const {
    const auto put = [&](const std::string& name, const std::string& text) { replace_file(out_ + "/" + name, text); };
    if (options_.library == tune::Library::openmpi) {
      put("openmpi.rules", openmpi_classic(rules_));
      put("openmpi-2.rules", openmpi_version_2(rules_));
      put("openmpi.json", openmpi_json(rules_));
    } else {
      put("mpich.json", mpich_json(rules_));
    }
    put("ucc.txt", "UCC_TL_UCP_TUNE=" + ucc_tune(rules_) + "\n");
    put("nccl.csv", nccl_csv(rules_, -1));
    put("index.html", page());
    if (checks_.empty()) return;
    std::string text = "collective,bytes,ours,best,default_ns,ours_ns,best_ns,predicted_ns,regret\n";
    for (const Check& check : checks_)
      text += fmt::format("{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.4f}\n", check.collective, check.bytes,
                          name_of(check.ours), name_of(check.best), check.plain, check.own, check.least,
                          check.predicted, check.regret);
    put("regret.csv", text);
  }

  std::string page() const {
    show::Page page(
        fmt::format("{} on {} ranks, tuned", to_string(options_.library), options_.ranks),
        fmt::format("Which of the library's own algorithms to take for which size; tuned in {:.1f} s.", tuned_));
    page.section("Rules");
    std::vector<std::vector<std::string>> rows;
    for (const tune::Choice& choice : rules_.choices) {
      for (const tune::Step& step : choice.steps)
        rows.push_back({choice.collective, "from " + tune::bytes_in_words(step.bytes), name_of(step.algorithm)});
    }
    page.table({"collective", "size", "algorithm"}, rows);
    page.paragraph("To use them:");
    page.preformatted(use());
    page.section("Races");
    page.paragraph(
        "Algorithms that were timed by turns. The least of a few calls, each from a common start to the latest finish. The column predicted is the time "
        "of the fastest by the machine's profile; there is none for the default, as it is not known what it does.");
    rows.clear();
    const auto place = [&](const tune::Cell& cell) {
      const auto& choices = rules_.choices;
      const auto same = [&](const tune::Choice& choice) { return choice.collective == cell.collective; };
      return std::pair(std::find_if(choices.begin(), choices.end(), same) - choices.begin(), cell.bytes);
    };
    std::vector<tune::Cell> by_size = cells_;
    std::sort(by_size.begin(), by_size.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    for (const tune::Cell& cell : by_size) {
      const tune::Result* best = cell.best();
      const tune::Result* plain = cell.of(default_of(cell.collective));
      if (best == nullptr) continue;
      rows.push_back({cell.collective, tune::bytes_in_words(cell.bytes),
                      plain != nullptr ? tune::duration(plain->time) : "refused", name_of(best->algorithm),
                      tune::duration(best->time), best->predicted > 0 ? tune::duration(best->predicted) : "",
                      fmt::format("{}", cell.results.size())});
    }
    page.table({"collective", "size", "default", "fastest", "measured", "predicted", "algorithms timed"}, rows);
    if (checks_.empty()) return page.html();
    const Summary summary(checks_);
    page.section("Regret");
    page.paragraph(
        "At sizes that no race had, all algorithms ran; the three best, ours and the default then ran once more.");
    page.numbers({{fmt::format("{:.2f}", summary.gain), "times as fast as the default, geometric mean"},
                  {fmt::format("{:.1f} %", 100 * summary.mean), "mean regret"},
                  {fmt::format("{:.1f} %", 100 * summary.worst), "worst regret"},
                  {in_figures(brute_ / tuned_), fmt::format("times as long: brute force, {} calls of each{}", kThorough,
                                                            resumed_ ? "; without the races before" : "")},
                  {in_figures(benchmarks_ / tuned_),
                   fmt::format("times as long: as OSU's benchmarks call them, in {} launches", launches_)}});
    rows.clear();
    for (const Check& check : checks_)
      rows.push_back({check.collective, tune::bytes_in_words(check.bytes), tune::duration(check.plain),
                      name_of(check.ours), tune::duration(check.own),
                      check.predicted > 0 ? tune::duration(check.predicted) : "", name_of(check.best),
                      tune::duration(check.least), fmt::format("{:.1f} %", 100 * check.regret)});
    page.table({"collective", "size", "default", "ours", "measured", "predicted", "best", "measured", "regret"}, rows);
    return page.html();
  }

  void say(Output& out) const {
    if (!checks_.empty()) {
      const Summary summary(checks_);
      out.print("at {} sizes that no race had: {:.2f} times as fast as the default\n", checks_.size(), summary.gain);
      out.print("(geometric mean), regret {:.1f} % in the mean, {:.1f} % at worst\n", 100 * summary.mean,
                100 * summary.worst);
      const auto taken = [&](double seconds) {
        return in_figures(seconds) + " s" +
               (resumed_ ? std::string() : ", " + in_figures(seconds / tuned_) + " times as long");
      };
      out.print("raced {} times an algorithm at a size, each three calls or more\n", calls_);
      out.print("brute force over all powers of two, {} calls of each: {};\n", kThorough, taken(brute_));
      out.print("as OSU's benchmarks call them, in {} launches: {}\n", launches_, taken(benchmarks_));
    }
    out.print("tuned in {:.1f} s, {:.1f} s of them for the profile; {}/index.html\n", tuned_, profiled_, out_);
    out.print("says what is gained\n");
    out.print("use it: {}", use());
  }

  /// What to type to have the library read its file.
  std::string use() const {
    if (options_.library == tune::Library::openmpi)
      return fmt::format(
          "mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename {}/openmpi.rules\n",
          out_);
    return fmt::format("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}/mpich.json\n", out_);
  }

  bool mpi_ = false, resume_ = false, regret_ = false, commutative_ = false, speaks_ = false;
  std::optional<std::string> machine_;
  std::string kinds_, out_ = "tuned";
  double seconds_ = 0.2;
  std::int64_t largest_ = 1 << 20, most_ = 4, rounds_ = 9;
  tune::TunerOptions options_;
  std::map<std::string, measure::Contestant> forced_;  ///< by key_of; gone before MPI ends
  ProfilePtr profile_;
  tune::Fit fit_;  ///< of the profile, to the races so far
  std::vector<tune::Cell> cells_;
  tune::Rules rules_;
  std::vector<Check> checks_;
  bool resumed_ = false;  ///< some races are of a run before
  std::vector<std::string> tuned_words_;
  std::size_t calls_ = 0;            ///< algorithms at sizes that ran
  double tuned_ = 0, profiled_ = 0;  ///< seconds: what tuning took, and of that the profile
  double written_ = 0;               ///< when the races were
  double brute_ = 0;                 ///< seconds that brute force would take, with kThorough calls of each …
  double benchmarks_ = 0;            ///< … and the calls alone, with as many as benchmarks make by default …
  std::size_t launches_ = 0;         ///< … each algorithm, with each of its parameters, in a launch of its own
};

}  // namespace

CommandPtr make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace chasqui::cli
