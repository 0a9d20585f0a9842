// SPDX-License-Identifier: MIT
// The shape of the house, proved from the files themselves: docs/design.md has the picture.
#include <gtest/gtest.h>

#include <algorithm>

#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

/// A room includes itself and the rooms it can reach here.
const Graph kHouse = {
    {"base", {}},
    {"model", {"base"}},
    {"schedule", {"model"}},
    {"plan", {"schedule"}},
    {"forge", {"plan"}},
    {"verify", {"schedule"}},
    {"simulate", {"schedule"}},
    {"show", {"schedule"}},
    {"solve", {"plan", "simulate", "verify"}},
    {"run", {"plan"}},
    {"threads", {"run"}},
    {"mpi", {"run"}},
    {"preload", {"threads", "mpi"}},
    {"bsp", {"run"}},
    {"cli", {"forge", "solve", "verify", "simulate", "show", "threads", "mpi", "bsp"}},
};

Graph include_graph() {
  Graph graph;
  for (const SourceFile& file : source_files()) graph[file.path].insert(file.includes.begin(), file.includes.end());
  return graph;
}

std::string room_of_path(const std::string& path, const std::vector<SourceFile>& files) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const SourceFile& f) { return f.path == path; });
  return file == files.end() ? "" : file->room;
}

TEST(Layers, EveryRoomIsInTheHouse) {
  for (const SourceFile& file : source_files()) {
    EXPECT_TRUE(file.room.empty() || kHouse.count(file.room)) << file.path;
  }
}

TEST(Layers, IncludesGoToTheLeft) {
  const auto files = source_files();
  std::size_t crossings = 0;
  for (const SourceFile& file : files) {
    if (file.room.empty()) continue;
    const auto allowed = reachable(kHouse, file.room);
    for (const std::string& target : file.includes) {
      const std::string room = room_of_path(target, files);
      if (room == file.room) continue;
      ++crossings;
      EXPECT_TRUE(allowed.count(room)) << file.path << " includes " << target;
    }
  }
  EXPECT_GT(crossings, 20U) << "the include lines were not found";
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
  for (const auto& [room, depends] : kHouse) EXPECT_FALSE(reachable(kHouse, room).count(room)) << room;
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
  EXPECT_GE(checked, 3U);
}

TEST(Files, AreShort) {
  for (const SourceFile& file : source_files()) EXPECT_LE(file.lines.size(), 400U) << file.path;
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
