// SPDX-License-Identifier: MIT
// The shape of the house, proved from the files themselves: docs/design.md has the picture.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

/// Which rooms a room includes, itself aside: these and no others.
const Graph kHouse = {
    {"base", {}},
    {"bsp", {"base", "model", "mpi", "plan", "run", "threads"}},
    {"c", {"base", "chasqui.h", "cli", "group", "run"}},
    {"chasqui.h", {}},                                                               // what C sees
    {"chasqui.hpp", {"plan", "schedule", "show", "simulate", "threads", "verify"}},  // the porch
    {"cli",
     {"base", "bsp", "forge", "measure", "model", "mpi", "plan", "run", "schedule", "show", "simulate", "solve",
      "threads", "translate", "tune", "verify"}},
    {"forge", {"base", "plan"}},
    {"group", {"base", "model", "run"}},
    {"measure", {"base", "model", "plan", "run", "show"}},
    {"model", {"base"}},
    {"mpi", {"base", "model", "run"}},
    {"plan", {"base", "model", "schedule"}},
    {"preload", {"base", "model", "mpi", "run"}},
    {"run", {"base", "model", "plan", "schedule"}},
    {"schedule", {"base", "model"}},
    {"show", {"base", "model", "schedule"}},
    {"simulate", {"base", "model", "schedule"}},
    {"solve", {"base", "model", "plan", "schedule", "simulate", "verify"}},
    {"threads", {"base", "model", "run"}},
    {"translate", {"base", "model", "schedule"}},
    {"tune", {"base", "model", "run", "schedule"}},
    {"verify", {"base", "model", "schedule"}},
};

/// The floors of rooms that have some, by their folders.
const Graph kFloors = {
    {"cli/commands", {"cli/frame", "cli/launch", "cli/plans"}},
    {"cli/frame", {}},
    {"cli/launch", {"cli/frame"}},
    {"cli/plans", {"cli/frame"}},
    {"measure/bench", {"measure/record"}},
    {"measure/record", {}},
    {"plan/clusters", {}},
    {"plan/exchange", {}},
    {"plan/items", {"plan/kernel"}},
    {"plan/kernel", {}},
    {"plan/published", {"plan/stream"}},
    {"plan/stream", {}},
    {"plan/trees", {}},
    {"run/board", {"run/call", "run/faults", "run/wait"}},
    {"run/call", {}},
    {"run/choose", {"run/board", "run/call", "run/messages"}},
    {"run/compare", {}},
    {"run/comm", {"run/board", "run/call", "run/choose", "run/faults", "run/messages", "run/wait"}},
    {"run/faults", {"run/call"}},
    {"run/messages", {"run/call", "run/wait"}},
    {"run/wait", {}},
    {"solve/adversary", {}},
    {"solve/clusters", {}},
};

/// Headers under src/ that another room may include. Of measure, mpi and threads: what the commands and the drop-in library
/// share with them. Of cli: what the C interface asks. Of plan: what the forge makes and checks. Of run: what a transport, a board or a rival must know.
const std::set<std::string> kDoors = {
    "base/json_text.hpp",
    "base/number.hpp",
    "base/reserve.hpp",
    "cli/frame/command.hpp",
    "cli/frame/nearest.hpp",
    "cli/frame/progress.hpp",
    "measure/bench/rivals.hpp",
    "measure/clocks.hpp",
    "measure/compare_profiles.hpp",
    "measure/foreign_tables.hpp",
    "measure/race.hpp",
    "measure/record/recorded_collective.hpp",
    "measure/record/recording.hpp",
    "mpi/check.hpp",
    "mpi/fabric.hpp",
    "mpi/forced.hpp",
    "mpi/native.hpp",
    "mpi/node_ranks.hpp",
    "mpi/profile.hpp",
    "mpi/together.hpp",
    "plan/growth.hpp",
    "plan/kernel/codec.hpp",
    "plan/kernel/counting.hpp",
    "plan/kernel/endgame.hpp",
    "plan/kernel/kernel.hpp",
    "plan/kernel/merge.hpp",
    "plan/kernel/table.hpp",
    "plan/listed_plan.hpp",
    "plan/reversed_plan.hpp",
    "run/board/board.hpp",
    "run/board/node_memory.hpp",
    "run/board/node_ranks.hpp",
    "run/board/process_memory.hpp",
    "run/board/shape.hpp",
    "run/call/aligned_buffer.hpp",
    "run/call/kinds.hpp",
    "run/call/patience.hpp",
    "run/comm/fabric.hpp",
    "run/comm/node_fabric.hpp",
    "run/comm/node_map.hpp",
    "run/compare/comparison.hpp",
    "run/faults/bad_news.hpp",
    "run/faults/departures.hpp",
    "run/faults/fault_channel.hpp",
    "run/faults/kept.hpp",
    "run/faults/post.hpp",
    "run/messages/builders.hpp",
    "run/messages/message_cost.hpp",
    "run/messages/player.hpp",
    "run/messages/sized_machine.hpp",
    "run/messages/tickets.hpp",
    "run/messages/transport.hpp",
    "run/wait/backoff.hpp",
    "run/wait/cores.hpp",
    "run/wait/launcher.hpp",
    "run/wait/seats.hpp",
    "simulate/program.hpp",
    "threads/channels.hpp",
    "threads/faults.hpp",
    "threads/pin.hpp",
};

/// Where the public headers of run belong: values that boards and messages share are those of call.hpp.
const std::map<std::string, std::string> kFaces = {
    {"include/chasqui/run/call.hpp", "run/call"}, {"include/chasqui/run/choose.hpp", "run/choose"},
    {"include/chasqui/run/comm.hpp", "run/comm"}, {"include/chasqui/run/operator.hpp", "run/call"},
    {"include/chasqui/run/sum.hpp", "run/comm"},
};

/// "run/board" for a file on a floor, "run" for one beside them, "" outside the rooms.
std::string floor_of(const std::string& path) {
  if (const auto face = kFaces.find(path); face != kFaces.end()) return face->second;
  if (path.rfind("src/", 0) != 0) return "";
  const std::string rest = path.substr(4);
  const auto room = rest.find('/'), floor = rest.find('/', room + 1);
  return floor == std::string::npos ? rest.substr(0, room) : rest.substr(0, floor);
}

std::string listed(const Graph& graph) {
  std::string text;
  for (const auto& [from, to] : graph) {
    text += "    {\"" + from + "\", {";
    for (const std::string& other : to) text += (other == *to.begin() ? "\"" : ", \"") + other + "\"";
    text += "}},\n";
  }
  return text;
}

Graph include_graph() {
  Graph graph;
  for (const SourceFile& file : source_files()) graph[file.path].insert(file.includes.begin(), file.includes.end());
  return graph;
}

std::string room_of_path(const std::string& path, const std::vector<SourceFile>& files) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const SourceFile& f) { return f.path == path; });
  return file == files.end() ? "" : file->room;
}

TEST(Layers, TheArrowsAreThoseOfTheHouse) {
  const auto files = source_files();
  Graph real;
  for (const SourceFile& file : files) {
    if (file.room.empty()) continue;
    auto& arrows = real[file.room];
    for (const std::string& target : file.includes) {
      if (const std::string room = room_of_path(target, files); room != file.room) arrows.insert(room);
    }
  }
  for (const auto& [room, arrows] : kHouse) EXPECT_EQ(real[room], arrows) << "src/" << room;
  EXPECT_EQ(real.size(), kHouse.size()) << "the rooms that are:\n" << listed(real);
  for (const auto& [room, arrows] : kHouse) EXPECT_FALSE(reachable(kHouse, room).count(room)) << room;
}

TEST(Layers, FloorsAreReachedFromAboveOnly) {
  Graph real;
  std::set<std::string> rooms;
  for (const auto& [floor, arrows] : kFloors) rooms.insert(floor.substr(0, floor.find('/')));
  for (const SourceFile& file : source_files()) {
    const std::string floor = floor_of(file.path);
    if (floor.find('/') == std::string::npos || rooms.count(file.room) == 0) continue;
    auto& arrows = real[floor];
    for (const std::string& target : file.includes) {
      const std::string other = floor_of(target);
      if (other != floor && other.rfind(file.room + "/", 0) == 0) arrows.insert(other);
    }
  }
  EXPECT_EQ(real, kFloors) << "the floors that are:\n" << listed(real);
  for (const auto& [floor, arrows] : real) EXPECT_FALSE(reachable(real, floor).count(floor)) << floor;
}

TEST(Layers, NoCommandKnowsAnotherAndOnlyTheParserKnowsCli11) {
  std::size_t commands = 0;
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("src/", 0) != 0) continue;
    const bool command = floor_of(file.path) == "cli/commands";
    commands += command;
    for (const std::string& target : file.includes) {
      EXPECT_FALSE(command && floor_of(target) == "cli/commands") << file.path << " includes " << target;
    }
    if (file.path.ends_with("/parse.cpp")) continue;
    for (const std::string& line : file.lines)
      EXPECT_NE(line.rfind("#include <CLI/", 0), 0U) << file.path << ": " << line;
  }
  EXPECT_GT(commands, 15U);
}

TEST(Layers, ARoomIsEnteredByItsDoors) {
  std::set<std::string> used;
  for (const SourceFile& file : source_files()) {
    if (file.room.empty()) continue;
    for (const std::string& target : file.includes) {
      if (target.rfind("src/", 0) != 0 || target.rfind("src/" + file.room + "/", 0) == 0) continue;
      used.insert(target.substr(4));
      EXPECT_TRUE(kDoors.count(target.substr(4))) << file.path << " includes " << target;
    }
  }
  EXPECT_EQ(used, kDoors) << "a door that nobody uses is a wall";
}

TEST(Layers, TheDesignShowsEveryRoom) {
  const std::string page = text_of("docs/design.md"), picture = text_of("docs/house.svg");
  for (const auto& [room, arrows] : kHouse) {
    if (room.rfind("chasqui.h", 0) == 0) continue;  // one header is no room
    EXPECT_NE(page.find("**" + room + "**"), std::string::npos) << room << " has no paragraph in docs/design.md";
    EXPECT_NE(picture.find(">" + room + "</text>"), std::string::npos) << room << " is not in docs/house.svg";
  }
  for (const auto& [floor, arrows] : kFloors) {
    const std::string name = floor.substr(floor.find('/') + 1);
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << floor << " is not in docs/design.md";
  }
}

TEST(Layers, PublicHeadersIncludePublicHeaders) {
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("include/", 0) != 0) continue;
    for (const std::string& target : file.includes) {
      EXPECT_EQ(target.rfind("include/", 0), 0U) << file.path << " includes " << target;
    }
  }
}

TEST(Layers, TheRuntimeHasTenPublicHeaders) {
  std::set<std::string> headers;
  for (const SourceFile& file : source_files()) {
    static const std::set<std::string> runtime = {"run", "threads", "group", "mpi", "measure"};
    if (file.path.rfind("include/", 0) == 0 && runtime.count(file.room)) headers.insert(file.path.substr(16));
  }
  const std::set<std::string> ten = {"group/join.hpp", "measure/bench.hpp", "measure/measure.hpp", "mpi/comm.hpp",
                                     "run/call.hpp",   "run/choose.hpp",    "run/comm.hpp",        "run/operator.hpp",
                                     "run/sum.hpp",    "threads/team.hpp"};
  EXPECT_EQ(headers, ten);
}

TEST(Layers, IncludesAreLinked) {
  const auto files = source_files();
  const Graph declared = declared_dependencies();
  EXPECT_GE(declared.size(), 5U);
  for (const SourceFile& file : files) {
    if (declared.count(file.room) == 0) continue;
    const auto linked = reachable(declared, file.room);
    for (const std::string& target : file.includes) {
      const std::string room = room_of_path(target, files);
      EXPECT_TRUE(room == file.room || linked.count(room)) << file.path << " includes " << target << " but src/"
                                                           << file.room << "/CMakeLists.txt does not list " << room;
    }
  }
}

TEST(Layers, LinksGoToTheLeft) {
  for (const auto& [room, depends] : declared_dependencies()) {
    // A room built once per MPI library is named room_library.
    const auto allowed = reachable(kHouse, room.substr(0, room.find('_')));
    for (const std::string& other : depends) EXPECT_TRUE(allowed.count(other)) << room << " depends on " << other;
  }
}

TEST(Layers, NoCycles) {
  const Graph graph = include_graph();
  for (const auto& [file, includes] : graph) EXPECT_FALSE(reachable(graph, file).count(file)) << file;
}

TEST(Layers, TheVerifierSharesNothingWithTheBuilders) {
  const Graph graph = include_graph();
  std::size_t checked = 0;
  for (const SourceFile& file : source_files()) {
    if (file.room != "verify") continue;
    ++checked;
    for (const std::string& target : reachable(graph, file.path)) {
      EXPECT_EQ(target.find("/plan/"), std::string::npos) << file.path << " reaches " << target;
      EXPECT_EQ(target.find("/solve/"), std::string::npos) << file.path << " reaches " << target;
    }
  }
  EXPECT_GT(checked, 7U);
}

TEST(Layers, TheProofCheckerSharesNothingWithTheEncoders) {
  const Graph graph = include_graph();
  std::size_t checked = 0;
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("src/solve/drat", 0) != 0) continue;
    ++checked;
    for (const std::string& target : reachable(graph, file.path)) {
      EXPECT_NE(target.find("drat"), std::string::npos) << file.path << " reaches " << target;
    }
  }
  EXPECT_GE(checked, 1U);
}

TEST(Files, OpenWithTheLicence) {
  for (const SourceFile& file : source_files()) {
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_NE(file.lines[0].find("SPDX-License-Identifier: MIT"), std::string::npos) << file.path;
  }
}

TEST(Files, PublicHeadersSayWhatTheyAre) {
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("include/", 0) != 0) continue;
    ASSERT_GE(file.lines.size(), 3U) << file.path;
    EXPECT_EQ(file.lines[1].rfind("//", 0), 0U) << file.path << " opens with no description";
    EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), "#pragma once"), file.lines.end()) << file.path;
  }
}

TEST(Files, AreNamedAfterAConcept) {
  for (const std::string& path : text_files()) {
    for (const std::string vague : {"utils", "helper", "manager", "misc"}) {
      EXPECT_EQ(path.find(vague), std::string::npos) << path;
    }
  }
}

/// Two types of one name in one namespace are one to the linker, whichever headers a file has seen.
TEST(Files, TypesOfHeadersHaveNamesOfTheirOwn) {
  std::map<std::string, std::string> seen;
  for (const SourceFile& file : source_files()) {
    if (file.room.empty() || !file.path.ends_with(".hpp")) continue;
    std::string within;
    for (const std::string& line : file.lines) {
      if (line.rfind("namespace ", 0) == 0) within = line;
      std::istringstream words(line);
      std::string word, name;
      words >> word;
      if (word == "enum") words >> word;
      if ((word != "struct" && word != "class") || line[0] == ' ' || line.ends_with(";")) continue;
      while (words >> name && std::isupper(static_cast<unsigned char>(name[0])) == 0) {  // attributes
      }
      if (name.empty() || std::isupper(static_cast<unsigned char>(name[0])) == 0) continue;
      const auto [place, fresh] = seen.try_emplace(within + name, file.path);
      EXPECT_TRUE(fresh || line.find('<') != std::string::npos)
          << name << " is in " << place->second << " and in " << file.path;
    }
  }
  EXPECT_GT(seen.size(), 200U);
}

/// What is in a program with another locale, a German one, stops at the point of 0.5.
TEST(Files, ReadNumbersInEveryLocale) {
  for (const SourceFile& file : source_files()) {
    if (file.room.empty()) continue;
    for (const std::string& line : file.lines) {
      for (const std::string reads : {"strtod(", "stod(", "atof("})
        EXPECT_EQ(line.find(reads), std::string::npos) << file.path << " calls " << reads << "): use base/number.hpp";
    }
  }
}

TEST(Files, SpeakOnlyOfTheProject) {
  const std::vector<std::string> elsewhere = {std::string("../") + "shared", std::string("/wo") + "rk/",
                                              std::string("/ho") + "me/"};
  for (const std::string& path : text_files()) {
    const std::string text = text_of(path);
    for (const std::string& words : elsewhere)
      EXPECT_EQ(text.find(words), std::string::npos) << path << " names " << words;
  }
}

}  // namespace
}  // namespace chasqui::structure
