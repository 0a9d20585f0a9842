// SPDX-License-Identifier: MIT
// chasqui tune: a tuning file for the MPI library that is there.
#include <algorithm>
#include <cmath>
#include <filesystem>

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

  double regret() const { return own / least - 1; }
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
      mean += check.regret() / static_cast<double>(checks.size());
      worst = std::max(worst, check.regret());
    }
    gain = std::exp(logs / static_cast<double>(checks.size()));
  }
};

class TuneCommand final : public Command {
 public:
  TuneCommand() : Command("tune", "write a tuning file for the MPI library: which of its algorithms for which size") {
    describe(
        "An MPI library has several algorithms for each collective and does not always take the best. This finds "
        "out which is fastest at which size, and writes it in the formats that libraries read, with a page that "
        "says what is gained. First the time of every algorithm is predicted; then the few best race against the "
        "library's own choice at a few sizes, all in this one run.\n"
        "--regret then times all algorithms at other sizes and says how far the choice is from the best. That "
        "takes many times as long.");
    flag("--mpi", mpi_, "tune the library of the MPI run this is part of: mpirun -np 8 chasqui tune --mpi (required)");
    option("--machine", "FILE", &machine_, "profile written by `chasqui measure --mpi` (default: measured first)")
        .file();
    option("--seconds", "S", &seconds_, "how long to measure the machine, without --machine (default 2)");
    option("--kinds", "LIST", &kinds_, "only these collectives, separated by commas: broadcast,allreduce,…");
    option("--largest", "BYTES", &largest_, "largest size, of one rank or of all blocks together (default 1048576)");
    option("--most", "N", &most_, "how many algorithms race at a size (default 4)");
    option("--rounds", "N", &rounds_, "calls of each algorithm with --regret; a race has half as many (default 9)");
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
    Progress bar("tuning", engine->has_terminal());
    engine->run(profile_, [&](run::Comm& comm) {
      measure::CommonStart start(comm);
      double done = 0;
      out.print("{:<21}{:>8} {:>10} {:>10}  fastest\n", "collective", "size", "default", "best");
      for (const Kind kind : kinds) {
        tune_one(*engine, comm, start, kind, out);
        bar(++done / static_cast<double>(kinds.size()) * (regret_ ? 0.2 : 1));
      }
      tuned_ = (clock_now() - begun) / 1e9;
      if (!regret_) return;
      done = 0;
      out.print("\n{:<21}{:>8} {:>10} {:>10} {:>10} {:>8}\n", "collective", "size", "default", "ours", "best",
                "regret");
      for (const Kind kind : kinds) {
        check_one(*engine, comm, start, kind, out);
        bar(0.2 + 0.8 * ++done / static_cast<double>(kinds.size()));
      }
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

  /// Races these algorithms; times in their order, 0 for those that refuse. Few calls are judged by their least: ranks that lose their core,
  /// and packets that are lost, only ever make them longer. Many are judged by their lower quartile.
  std::vector<double> race(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind,
                           std::int64_t bytes, const std::vector<tune::Algorithm>& algorithms,
                           const measure::RaceOptions& how, Counts counts) const {
    std::vector<measure::Contestant> contestants;
    for (const tune::Algorithm& algorithm : algorithms) contestants.push_back(engine.forced(algorithm));
    std::vector<double> times;
    for (const measure::Raced& raced :
         measure::race(comm, start, kind, static_cast<std::size_t>(bytes), contestants, how)) {
      const std::vector<double>& spans = raced.times.spans;
      times.push_back(!raced.works              ? 0
                      : counts == Counts::least ? *std::min_element(spans.begin(), spans.end())
                                                : raced.times.low);
    }
    return times;
  }

  tune::Algorithm default_of(const std::string& word) const {
    return {.library = options_.library, .collective = word};
  }
  /// Those within a tenth of the fastest are as good as each other soon.
  measure::RaceOptions few() const {
    return {.warm = 1, .few = 2, .rounds = static_cast<int>(rounds_ + 1) / 2, .near = 1.1};
  }

  void tune_one(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind, Output& out) {
    const std::string word(tune::word_of(kind));
    while (const auto next = tune::next_size(options_, {word, kind}, cells_, *profile_)) {
      const std::int64_t bytes = *next;
      tune::Cell cell{word, bytes, {{default_of(word)}}};
      for (const tune::Result& result : tune::shortlist(options_, word, bytes, *profile_))
        cell.results.push_back(result);
      std::vector<tune::Algorithm> algorithms;
      for (const tune::Result& result : cell.results) algorithms.push_back(result.algorithm);
      const auto times = race(engine, comm, start, kind, bytes, algorithms, few(), Counts::least);
      for (std::size_t i = 0; i < times.size(); ++i) cell.results[i].time = times[i];
      cells_.push_back(cell);
      if (speaks_) replace_file(races(), to_csv(cells_, options_));
      if (const tune::Result* best = cell.best(); best != nullptr) {
        out.print("{:<21}{:>8} {:>10} {:>10}  {:.28}\n", word, tune::bytes_in_words(bytes),
                  tune::duration(cell.results[0].time), tune::duration(best->time), name_of(best->algorithm));
        out.flush();
      }
    }
    for (std::size_t here = 0; here < cells_.size(); ++here) {
      if (cells_[here].collective != word) continue;
      std::vector<tune::Algorithm> guests = tune::guests(options_, cells_, cells_[here]);
      const tune::Result* host = cells_[here].best();
      if (guests.empty() || host == nullptr) continue;
      guests.insert(guests.begin(), host->algorithm);
      const auto times = race(engine, comm, start, kind, cells_[here].bytes, guests, few(), Counts::least);
      const double scale = times[0] > 0 ? host->time / times[0] : 1;  // what the machine does otherwise now
      for (std::size_t i = 1; i < guests.size(); ++i) {
        const auto rounds = rounds_of(guests[i], options_.ranks, cells_[here].bytes);
        cells_[here].results.push_back({guests[i], times[i] * scale, predict(*rounds, *profile_)});
      }
      if (speaks_) replace_file(races(), to_csv(cells_, options_));
    }
    rules_.library = options_.library;
    tune::Choice choice = tune::choose(options_, word, cells_, *profile_);
    if (!choice.steps.empty()) rules_.choices.push_back(choice);
  }

  /// All algorithms at sizes that no race had; the three best and ours run once more, afresh.
  void check_one(const Engine& engine, run::Comm& comm, measure::CommonStart& start, Kind kind, Output& out) {
    const std::string word(tune::word_of(kind));
    const auto choice = std::find_if(rules_.choices.begin(), rules_.choices.end(),
                                     [&](const tune::Choice& one) { return one.collective == word; });
    if (choice == rules_.choices.end()) return;
    const auto sizes = tune::unseen_sizes(kind, options_);
    for (const std::int64_t bytes : sizes) {
      std::vector<tune::Result> all = tune::predicted(options_, word, bytes, *profile_);
      std::vector<tune::Algorithm> algorithms;
      for (const tune::Result& result : all) algorithms.push_back(result.algorithm);
      const double begun = clock_now();
      const int rounds = static_cast<int>(rounds_);
      const auto times = race(engine, comm, start, kind, bytes, algorithms,
                              {.few = rounds, .rounds = rounds, .hopeless = 1e9}, Counts::quartile);
      // Brute force looks at every power of two.
      const double powers = kind == Kind::barrier ? 1 : std::log2(static_cast<double>(sizes.back()) / 8) + 3;
      brute_ += (clock_now() - begun) / 1e9 * powers / static_cast<double>(sizes.size());
      for (std::size_t i = 0; i < times.size(); ++i) all[i].time = times[i];
      std::erase_if(all, [](const tune::Result& result) { return result.time <= 0; });
      std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
      const tune::Algorithm ours = step_for(*choice, bytes).algorithm;
      std::vector<tune::Algorithm> last = {default_of(word), ours};
      for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i) last.push_back(all[i].algorithm);
      const auto again = race(engine, comm, start, kind, bytes, last,
                              {.few = 2 * rounds, .rounds = 2 * rounds, .hopeless = 1e9}, Counts::quartile);
      if (again[0] <= 0 || again[1] <= 0) continue;
      std::size_t best = 0;
      for (std::size_t i = 1; i < again.size(); ++i) best = again[i] > 0 && again[i] < again[best] ? i : best;
      const auto rounds_sent = rounds_of(ours, options_.ranks, bytes);
      // The same algorithm twice in a race differs by noise alone.
      const double own = ours == last[best] ? again[best] : again[1];
      checks_.push_back({word, bytes, ours, last[best], again[0], own, again[best],
                         rounds_sent ? predict(*rounds_sent, *profile_) : 0});
      const Check& check = checks_.back();
      out.print("{:<21}{:>8} {:>10} {:>10} {:>10} {:>6.1f} %\n", word, tune::bytes_in_words(bytes),
                tune::duration(check.plain), tune::duration(check.own), tune::duration(check.least),
                100 * check.regret());
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
                          check.predicted, check.regret());
    put("regret.csv", text);
  }

  std::string page() const {
    show::Page page(
        fmt::format("{} on {} ranks, tuned", to_string(options_.library), options_.ranks),
        fmt::format("Which of the library's own algorithms to take for which size; tuned in {:.0f} s.", tuned_));
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
    page.numbers({{fmt::format("{:.2f}", summary.gain), "times as fast as the default, geometric mean"},
                  {fmt::format("{:.1f} %", 100 * summary.mean), "mean regret"},
                  {fmt::format("{:.1f} %", 100 * summary.worst), "worst regret"},
                  {fmt::format("1/{:.0f}", brute_ / tuned_),
                   resumed_ ? "of the time of brute force, without the races before" : "of the time of brute force"}});
    rows.clear();
    for (const Check& check : checks_)
      rows.push_back({check.collective, tune::bytes_in_words(check.bytes), tune::duration(check.plain),
                      name_of(check.ours), tune::duration(check.own),
                      check.predicted > 0 ? tune::duration(check.predicted) : "", name_of(check.best),
                      tune::duration(check.least), fmt::format("{:.1f} %", 100 * check.regret())});
    page.table({"collective", "size", "default", "ours", "measured", "predicted", "best", "measured", "regret"}, rows);
    return page.html();
  }

  void say(Output& out) const {
    if (!checks_.empty()) {
      const Summary summary(checks_);
      out.print("at {} sizes that no race had: {:.2f} times as fast as the default\n", checks_.size(), summary.gain);
      out.print("(geometric mean), regret {:.1f} % in the mean, {:.1f} % at worst\n", 100 * summary.mean,
                100 * summary.worst);
      if (resumed_) out.print("brute force over all powers of two would take {:.0f} s\n", brute_);
      else
        out.print("brute force over all powers of two would take {:.0f} s: {:.0f} times as long\n", brute_,
                  brute_ / tuned_);
    }
    out.print("tuned in {:.0f} s; {}/index.html says what is gained\n", tuned_, out_);
    if (options_.library == tune::Library::openmpi)
      out.print(
          "use it: mpirun --mca coll_tuned_use_dynamic_rules 1 \\\n  --mca coll_tuned_dynamic_rules_filename {}/openmpi.rules\n",
          out_);
    else out.print("use it: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={}/mpich.json\n", out_);
  }

  bool mpi_ = false, resume_ = false, regret_ = false, commutative_ = false, speaks_ = false;
  std::optional<std::string> machine_;
  std::string kinds_, out_ = "tuned";
  double seconds_ = 2;
  std::int64_t largest_ = 1 << 20, most_ = 4, rounds_ = 9;
  tune::TunerOptions options_;
  ProfilePtr profile_;
  std::vector<tune::Cell> cells_;
  tune::Rules rules_;
  std::vector<Check> checks_;
  bool resumed_ = false;          ///< some races are of a run before
  double tuned_ = 0, brute_ = 0;  ///< seconds: what tuning took, and what brute force would
};

}  // namespace

CommandPtr make_tune_command() { return std::make_unique<TuneCommand>(); }

}  // namespace chasqui::cli
