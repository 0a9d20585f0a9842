// SPDX-License-Identifier: MIT
// chasqui bsp: what a bulk-synchronous run cost and would cost elsewhere; the parameters of this machine.
#include <optional>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/base/file.hpp"
#include "chasqui/bsp/broadcast.hpp"
#include "chasqui/bsp/ledger_file.hpp"
#include "chasqui/bsp/measure.hpp"
#include "chasqui/show/plot.hpp"
#include "cli/frame/command.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::cli {
namespace {

/// A machine description: JSON itself, or a file that holds it.
bsp::Machine read_machine(const std::string& text) {
  if (!text.empty() && text.front() == '{') return bsp::machine_from_json(text, "--machine");
  return bsp::machine_from_json(read_file(text, R"(give --machine a file or {"model":"bsp","p":8,"g":2,"L":100})"),
                                text);
}

/// The supersteps of the whole machine: measured time, and the prediction of each machine.
std::string picture_of(const bsp::Ledger& ledger, const std::vector<bsp::Machine>& machines, bsp::Work work) {
  work = settle(work, ledger);
  show::Plot plot{.title = fmt::format("Supersteps of {} processors", ledger.processors),
                  .x_label = "superstep, from 1",
                  .y_label = work == bsp::Work::charged ? "measured: ns; predicted: units" : "ns",
                  .curves = {{"measured", {}}}};
  for (const bsp::Machine& machine : machines) plot.curves.push_back({bsp::to_string(machine), {}, true});
  for (std::size_t t = 0; !ledger.machines.empty() && t < ledger.machines.front().supersteps.size(); ++t) {
    const bsp::Superstep& step = ledger.machines.front().supersteps[t];
    const auto add = [&](std::size_t curve, double y) {
      plot.curves[curve].points.push_back({static_cast<double>(t + 1), y, y, y});
    };
    add(0, static_cast<double>(step.span_nanoseconds));
    for (std::size_t m = 0; m < machines.size(); ++m)
      add(m + 1, predict(step, ledger.machines.front().size, work, machines[m]));
  }
  return show::plot_svg(plot);
}

class BspCommand final : public Command {
 public:
  BspCommand() : Command("bsp", "costs of bulk-synchronous runs, and this machine's parameters") {
    describe(
        "A bulk-synchronous program computes, sends and waits for all, in supersteps (docs/bsp.md). Its ledger "
        "says what every superstep worked and sent.\n"
        "cost FILE prints a ledger and predicts how long the program takes on machines of --machine: bsp (g, L), "
        "bsp* (also B) or d-bsp (tables of g and L over log2 of the submachine's size). measure finds g, L and B "
        "of this machine. record FILE runs a broadcast on virtual processors and writes its ledger.");
    positional("ACTION", &action_, "what to do").required().choices({"cost", "measure", "record"});
    positional("FILE", &file_, "the ledger (cost, record)").file();
    option("-m,--machine", "JSON|FILE", &machines_, "cost: a machine to predict for; may be repeated");
    option("--svg", "FILE", &svg_, "cost: also draw the supersteps (- for standard output)").file();
    option("-p,--processors", "N", &processors_, "measure: processors (default: one a core); record: default 16");
    option("--algorithm", "NAME", &algorithm_, "record: how to broadcast; default root").choices({"doubling", "root"});
    option("--work", "SOURCE", &work_,
           "cost: w is what the program charged, or measured nanoseconds; default: charged if any")
        .choices({"charged", "measured"});
    flag("--json", json_, "cost: predictions as JSON; measure: the profile for $CHASQUI_BSP_PROFILE");
    example("chasqui bsp record run.json -p 256 --algorithm root", "Root(p) on 256 virtual processors");
    example(R"(chasqui bsp cost run.json -m '{"model":"d-bsp","p":8,"g":[1],"L":[0,1,2,3]}')", "on a hypercube");
    example("chasqui bsp measure --json", "a profile");
  }

  int run(Output& out) override {
    if (action_ == "measure") return measure(out);
    if (!file_) throw Error("{}: FILE is missing; see 'chasqui bsp --help'", action_);
    return action_ == "cost" ? cost(out) : record(out);
  }

 private:
  int cost(Output& out) {
    const bsp::Ledger ledger = bsp::read_ledger(*file_);
    const bsp::Work work = !work_                ? bsp::Work::automatic
                           : *work_ == "charged" ? bsp::Work::charged
                                                 : bsp::Work::measured;
    std::vector<bsp::Machine> machines;
    for (const std::string& text : machines_) machines.push_back(read_machine(text));
    if (svg_) write_file(*svg_, picture_of(ledger, machines, work), out);
    if (json_) {
      const bsp::Totals sum = bsp::totals(ledger);
      std::string predictions;
      for (const bsp::Machine& machine : machines) {
        predictions += fmt::format("{}{{\"machine\":{},\"time\":{}}}", predictions.empty() ? "" : ",",
                                   bsp::to_json(machine), bsp::predict(ledger, machine, work));
      }
      out.print(
          "{{\"p\":{},\"T\":{},\"H\":{},\"blocks\":{},\"S\":{},\"W\":{},\"W_ns\":{},\"seconds\":{},"
          "\"predictions\":[{}]}}\n",
          ledger.processors, sum.supersteps, sum.messages, sum.blocks, sum.bytes, sum.work, sum.nanoseconds,
          ledger.seconds, predictions);
    } else {
      out.write(bsp::to_table(ledger, machines, work));
    }
    return 0;
  }

  int processors(std::int64_t otherwise, std::int64_t most) const {
    const std::int64_t count = processors_.value_or(otherwise);
    if (count < 1 || count > most) throw Error("{}: -p {} is not in 1..{}", action_, count, most);
    return static_cast<int>(count);
  }

  int measure(Output& out) {
    const int p = processors(run::available_cores(), 4096);
    const bsp::Profile profile = bsp::measure([&](const bsp::Program& program) { return bsp::run(p, program); });
    if (json_) {
      out.print("{}\n", bsp::to_json(profile));
    } else {
      const std::string text = fmt::format(
          "p = {}: L = {:.0f} ns, g = {:.2f} ns a message, {:.0f} ns a block, {:.3f} ns a byte, B = {:.0f} bytes",
          profile.p, profile.latency, profile.message_gap, profile.block_cost, profile.byte_gap, profile.block_bytes());
      out.write(wrap(text, 2, static_cast<std::size_t>(out.width())) + "\n");
    }
    return 0;
  }

  int record(Output& out) {
    constexpr std::int64_t kMost = 1 << 20;  // some 7 KiB of memory for each
    const int p = processors(16, kMost);
    const bool root = algorithm_.value_or("root") == "root";
    const bsp::Ledger ledger = bsp::run(
        p, [&](bsp::World& w) { root ? bsp::broadcast_root(w, w.rank()) : bsp::broadcast_doubling(w, w.rank()); },
        {.engine = bsp::Engine::virtual_processors});
    bsp::write_ledger(*file_, ledger);
    const bsp::Totals sum = bsp::totals(ledger);
    out.print("{}: p = {}, T = {}, H = {}\n", *file_, ledger.processors, sum.supersteps, sum.messages);
    return 0;
  }

  std::string action_;
  std::optional<std::string> file_, svg_, algorithm_, work_;
  std::vector<std::string> machines_;
  std::optional<std::int64_t> processors_;
  bool json_ = false;
};

}  // namespace

CommandPtr make_bsp_command() { return std::make_unique<BspCommand>(); }

}  // namespace chasqui::cli
