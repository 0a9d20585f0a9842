// SPDX-License-Identifier: MIT
#include "group/rendezvous.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

/// Was the process started with this variable? Also no where its environment may not be read.
bool has_variable(long process, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.rfind(name + "=", 0) == 0 || text.find('\0' + name + "=") != std::string::npos;
}

struct ProcessEntry {
  long parent = 0;
  std::string began;  ///< when, in ticks: numbers of processes come again
};

ProcessEntry process(long number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream words(text.substr(text.rfind(')') + 1));  // the name before it may have blanks
  ProcessEntry found;
  std::string word;
  for (int field = 3; words >> word && field <= 22; ++field) {
    if (field == 4) found.parent = std::atol(word.c_str());
    if (field == 22) found.began = word;
  }
  return found;
}

}  // namespace

std::string rendezvous_of(const run::Launched& launched) {
  long origin = getppid();
  while (origin > 1 && has_variable(origin, launched.rank_variable)) origin = process(origin).parent;
  return fmt::format("unix:@chasqui-{}-{}-{}{}", geteuid(), origin, process(origin).began, launched.job).substr(0, 100);
}

}  // namespace chasqui::group
