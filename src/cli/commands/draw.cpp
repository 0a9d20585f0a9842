// SPDX-License-Identifier: MIT
// chasqui draw: a schedule file as a picture.
#include "chasqui/show/draw.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "chasqui/base/error.hpp"
#include "chasqui/schedule/json.hpp"
#include "cli/frame/command.hpp"
#include "cli/plans/stated.hpp"

namespace chasqui::cli {
namespace {

class DrawCommand final : public Command {
 public:
  DrawCommand() : Command("draw", "draw a schedule file: tree, activity chart or reception table") {
    describe(
        "Draws a schedule file, or a run that `chasqui record` or `chasqui simulate --out` wrote. Without --out "
        "the picture is text in the terminal. --out picture.svg writes SVG; a name that ends in .json gets a "
        "timeline for Perfetto and chrome://tracing, where a tick is a microsecond. Above 512 processors a "
        "summary replaces the picture.\n"
        "The tree shows how one item spreads. The chart has a row for each processor, with time to the right. The "
        "table says which item a processor receives when; items that it will forward are bold (or starred). Runs "
        "are drawn as charts and timelines only.\n"
        "The schedule is verified first: if it is not legal, a line says so.");
    positional("FILE", &file_, "schedule file or recorded run; - is the standard input").required().file();
    option("--out", "FILE", &out_, "where to write; - is the standard output").file();
    option("--format", "FORMAT", &format_, "output format").choices({"text", "svg", "trace"});
    option("--what", "PICTURE", &what_, "what to draw; default: what shows most")
        .choices({"auto", "tree", "chart", "table", "summary"});
    option("--of", "N", &of_,
           "tree: of which item (broadcast, allgather, reduce, reduce-scatter, stream), into which rank (allreduce, "
           "scan, barrier) or from which rank (alltoall)");
    flag("--ascii", ascii_, "text in plain ASCII, whatever the locale says");
    example("chasqui draw b.json", "text in the terminal");
    example("chasqui draw b.json --what chart --out chart.svg", "an activity chart as SVG");
    example("chasqui draw b.json --format trace --out b.trace.json", "a timeline for Perfetto");
    example("chasqui draw run.json --format trace --out run.trace.json",
            "the same of a run that `chasqui record` kept");
  }

  int run(Output& out) override {
    const std::string format = chosen_format();
    const std::string target = out_.value_or("-");
    const std::string text = text_of(file_);
    const std::string place = place_of(file_);
    write_file(target,
               show::is_timeline(text) ? drawn(show::timeline_from_json(text, place), format, target == "-", out)
                                       : checked(schedule_from_json(text, place), place, format, target == "-", out),
               out);
    return 0;
  }

 private:
  std::string chosen_format() const {
    if (!format_.empty() || !out_) return format_.empty() ? "text" : format_;
    std::string name = *out_;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name.ends_with(".svg")) return "svg";
    if (name.ends_with(".json")) return "trace";
    for (const char* ending : {".svgz", ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".webp", ".html"}) {
      if (name.ends_with(ending))
        throw Error("--out {}: pictures are drawn as SVG: write {}.svg, and convert it with rsvg-convert or a browser",
                    *out_, out_->substr(0, out_->size() - std::strlen(ending)));
    }
    return "text";
  }

  /// What the file states of itself is repeated only as far as it holds.
  std::string checked(Schedule schedule, const std::string& place, const std::string& format, bool to_terminal,
                      Output& out) const {
    const Stated stated = check_stated(schedule, place);
    std::string picture = drawn(schedule, format, to_terminal, out);
    out.error(stated.doubts);
    if (format != "trace" && show::too_large(schedule) && !what_.empty() && what_ != "auto" && what_ != "summary")
      out.error(fmt::format("{}: too large for a {}: this is a summary\n", place, what_));
    return stated.legal ? picture : show::marked_illegal(std::move(picture));
  }

  std::string drawn(const Schedule& schedule, const std::string& format, bool to_terminal, const Output& out) const {
    if (format == "trace") {
      if (!what_.empty()) throw Error("--what {} has no meaning for a trace: leave it out", what_);
      return show::trace_json(show::timeline_of(schedule));
    }
    if (format == "svg") return show::to_svg(schedule, picture(), of_);
    const show::TextStyle style{!ascii_ && out.utf8(), to_terminal && out.colour(), to_terminal ? out.width() : 80};
    return show::to_text(schedule, style, picture(), of_);
  }

  /// What a simulation or a real run did: a chart or a trace.
  std::string drawn(const show::Timeline& timeline, const std::string& format, bool to_terminal,
                    const Output& out) const {
    if (format == "trace") return show::trace_json(timeline);
    if (!what_.empty() && what_ != "auto" && what_ != "chart")
      throw Error("{}: a run can be drawn as a chart only, not as a {}", file_, what_);
    if (timeline.P > show::kLargestPicture)
      throw Error("{}: {} ranks are too many for a chart: use --format trace", file_, timeline.P);
    if (format == "svg") return show::chart_svg(timeline);
    return show::chart_text(timeline,
                            {!ascii_ && out.utf8(), to_terminal && out.colour(), to_terminal ? out.width() : 80});
  }

  show::Picture picture() const {
    if (what_ == "tree") return show::Picture::tree;
    if (what_ == "chart") return show::Picture::chart;
    if (what_ == "table") return show::Picture::table;
    if (what_ == "summary") return show::Picture::summary;
    return show::Picture::automatic;
  }

  std::string file_;
  std::optional<std::string> out_;
  std::string format_;
  std::string what_;
  std::optional<std::int64_t> of_;
  bool ascii_ = false;
};

}  // namespace

CommandPtr make_draw_command() { return std::make_unique<DrawCommand>(); }

}  // namespace chasqui::cli
