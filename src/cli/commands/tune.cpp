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

constexpr int kThorough = 100;   ///< calls of each that benchmarks make at the least, by default
constexpr double kMargin = 1.3;  ///< times what is expected of a call: its first slot

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
    option("--most", "N", &most_, "how many algorithms race at a size (default 4)");
    option("--rounds", "N", &rounds_,
           "calls of each algorithm with --regret; a race has three to half as many (default 9)");
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
      std::error_code code;
      std::filesystem::create_directories(out_, code);
      if (code) throw Error("--out {}: cannot be made ({}): give another folder", out_, code.message());
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

  ProfilePtr measured(const Engine& engine) const {
    const measure::Measurement found = measure(engine, seconds_, false);
    const std::string text = from_rank_0(engine, [&] { return to_json(found.profile); });
    if (speaks_) write_profile(out_ + "/machine.json", found.profile);
    return std::make_shared<const Profile>(profile_from_json(text, "the measured profile"));
  }

  /// Which time of an algorithm's calls counts.
  enum class Counts { least, quartile };

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
        const bool known = std::any_of(cells_.begin(), cells_.end(), [&](const tune::Cell& cell) {
          return cell.collective == word && cell.bytes == race.bytes;
        });
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

  /// Races these algorithms; times in their order, 0 for those that refuse. Few calls are judged by their least: ranks that lose their core,
  /// and packets that are lost, only ever make them longer. Many are judged by their lower quartile. `expected`: what each may take; empty: nobody knows.
  std::vector<double> race(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind,
                           std::int64_t bytes, const std::vector<tune::Algorithm>& algorithms,
                           const measure::RaceOptions& how, Counts counts, const std::vector<double>& expected = {}) {
    std::vector<measure::Contestant> contestants;
    for (const tune::Algorithm& algorithm : algorithms) contestants.push_back(contestant(engine, algorithm));
    for (std::size_t i = 0; i < expected.size(); ++i) contestants[i].expected = expected[i];
    std::vector<double> times;
    for (const measure::Raced& raced :
         measure::race(comm, start, kind, static_cast<std::size_t>(bytes), contestants, how)) {
      const std::vector<double>& spans = raced.times.spans;
      times.push_back(!raced.works || spans.empty() ? 0
                      : counts == Counts::least     ? *std::min_element(spans.begin(), spans.end())
                                                    : raced.times.low);
    }
    return times;
  }

  tune::Algorithm default_of(const std::string& word) const {
    return {.library = options_.library, .collective = word};
  }
  /// Those within a tenth of the fastest are as good as each other soon.
  measure::RaceOptions few() const {
    return {.warm = 0, .few = 3, .rounds = std::max(3, static_cast<int>(rounds_ + 1) / 2), .near = 1.1};
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
    const tune::Forecast forecast(options_, {word, kind}, fitted(options_, *profile_, before), before.empty());
    while (const auto next = next_race(options_, forecast, cells_)) {
      const auto times = race(engine, comm, start, kind, next->bytes, next->algorithms, few(), Counts::least,
                              expected(forecast, *next));
      add_results(cells_, forecast, *next, times);
      calls_ += next->algorithms.size();
      if (speaks_) replace_file(races(), to_csv(cells_, options_));
      const auto cell = std::find_if(cells_.begin(), cells_.end(), [&](const tune::Cell& each) {
        return each.collective == word && each.bytes == next->bytes;
      });
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
    const int rounds = static_cast<int>(rounds_);
    std::vector<std::vector<tune::Result>> ran;  // by size
    for (const std::int64_t bytes : sizes) {
      std::vector<tune::Result>& all = ran.emplace_back(tune::predicted(options_, word, bytes, *profile_));
      std::vector<tune::Algorithm> algorithms;
      for (const tune::Result& result : all) algorithms.push_back(result.algorithm);
      const double begun = clock_now();
      const auto times = race(engine, comm, start, kind, bytes, algorithms,
                              {.few = rounds, .rounds = rounds, .most = 1, .hopeless = 1e9}, Counts::quartile);
      // Brute force looks at every power of two. Calls beyond those that ran count as what they take alone.
      const double powers =
          static_cast<double>(tune::tuned_sizes(kind, options_).size()) / static_cast<double>(sizes.size());
      const double took = (clock_now() - begun) / 1e9;
      brute_ += powers * took;
      thorough_ += powers * took;
      for (const double time : times) thorough_ += powers * std::max(0, kThorough - rounds) * time / 1e9;
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
                           {.few = 2 * rounds, .rounds = 2 * rounds, .hopeless = 1e9}, Counts::quartile));
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
    page.section("Races");
    page.paragraph(
        "The least of a few calls, each from a common start to the latest finish. The column predicted is the time that the machine's profile gives "
        "the fastest; nobody knows what the default does, so it has none.");
    rows.clear();
    for (const tune::Cell& cell : cells_) {
      const tune::Result* best = cell.best();
      const tune::Result* plain = cell.of(default_of(cell.collective));
      if (best == nullptr) continue;
      rows.push_back({cell.collective, tune::bytes_in_words(cell.bytes),
                      plain != nullptr ? tune::duration(plain->time) : "refused", name_of(best->algorithm),
                      tune::duration(best->time), best->predicted > 0 ? tune::duration(best->predicted) : "",
                      fmt::format("{}", cell.results.size())});
    }
    page.table({"collective", "size", "default", "fastest", "measured", "predicted", "raced"}, rows);
    if (checks_.empty()) return page.html();
    const Summary summary(checks_);
    page.section("Regret");
    page.paragraph(
        "At sizes that no race had, all algorithms ran; the three best, ours and the default then ran once more.");
    page.numbers(
        {{fmt::format("{:.2f}", summary.gain), "times as fast as the default, geometric mean"},
         {fmt::format("{:.1f} %", 100 * summary.mean), "mean regret"},
         {fmt::format("{:.1f} %", 100 * summary.worst), "worst regret"},
         {fmt::format("1/{:.0f}", brute_ / tuned_), fmt::format("of the time of brute force, {} calls of each{}",
                                                                rounds_, resumed_ ? ", without the races before" : "")},
         {fmt::format("1/{:.0f}", thorough_ / tuned_), fmt::format("… {} calls of each", kThorough)}});
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
      out.print("raced {} times an algorithm at a size, each three calls or more\n", calls_);
      const auto compared = [&](double brute, const char* to) {
        return resumed_ ? std::string() : fmt::format("{}{:.0f} times as long", to, brute / tuned_);
      };
      out.print("brute force over all powers of two, {} calls of each, would take\n", rounds_);
      out.print("{:.0f} s{}; with {} calls, {:.0f} s{}\n", brute_, compared(brute_, ": "), kThorough, thorough_,
                compared(thorough_, ": "));
    }
    out.print("tuned in {:.1f} s, {:.1f} s of them for the profile; {}/index.html\n", tuned_, profiled_, out_);
    out.print("says what is gained\n");
    if (options_.library == tune::Library::openmpi)
      out.print(
          "use it: mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename {}/openmpi.rules\n",
          out_);
    else out.print("use it: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}/mpich.json\n", out_);
  }

  bool mpi_ = false, resume_ = false, regret_ = false, commutative_ = false, speaks_ = false;
  std::optional<std::string> machine_;
  std::string kinds_, out_ = "tuned";
  double seconds_ = 0.2;
  std::int64_t largest_ = 1 << 20, most_ = 4, rounds_ = 9;
  tune::TunerOptions options_;
  std::map<std::string, measure::Contestant> forced_;  ///< by key_of; gone before MPI ends
  ProfilePtr profile_;
  std::vector<tune::Cell> cells_;
  tune::Rules rules_;
  std::vector<Check> checks_;
  bool resumed_ = false;  ///< some races are of a run before
  std::vector<std::string> tuned_words_;
  std::size_t calls_ = 0;            ///< algorithms at sizes that ran
  double tuned_ = 0, profiled_ = 0;  ///< seconds: what tuning took, and of that the profile
  double brute_ = 0, thorough_ = 0;  ///< seconds that brute force would take, with so many calls and with kThorough
};

}  // namespace

CommandPtr make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace chasqui::cli
