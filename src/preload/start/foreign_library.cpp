// SPDX-License-Identifier: MIT
// The drop-in library loaded into a program of another MPI, whose handles and constants are others and may not even have
// the size of ours. That is seen before anything runs: the program is started again without this library.
#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

#include "preload/start/settings.hpp"

namespace chasqui::preload {
namespace {

/// The MPI library that the program is linked with, if it is known not to be the one this file was compiled for.
std::string foreign_library() {
  char text[16 * 1024] = {};  // another library writes as much as its own header says
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string_view version(text);
#ifdef OPEN_MPI
  const std::initializer_list<std::string_view> others{"MVAPICH", "MPICH", "Intel(R) MPI"};
#else
  const std::initializer_list<std::string_view> others{"Open MPI"};
#endif
  for (const std::string_view name : others) {
    if (version.find(name) != std::string_view::npos) return std::string(name);
  }
  return {};
}

/// Takes this library out of LD_PRELOAD. False: it was not there.
bool unload_next_time() {
  Dl_info own{};
  const char* list = std::getenv("LD_PRELOAD");
  if (list == nullptr || dladdr(reinterpret_cast<void*>(&unload_next_time), &own) == 0) return false;
  std::string words(list), rest;
  for (char& c : words) c = c == ':' ? ' ' : c;
  bool found = false;
  std::stringstream each(words);
  for (std::string word; each >> word;) {
    if (word == own.dli_fname) found = true;
    else rest += (rest.empty() ? "" : ":") + word;
  }
  return found && setenv("LD_PRELOAD", rest.c_str(), 1) == 0;
}

__attribute__((constructor)) void leave_foreign_programs(int, char** words, char**) {
  const std::string other = foreign_library();
  if (other.empty()) return;
  say(fmt::format("this library is for " CHASQUI_MPI_FLAVOUR " and the program is linked with {}: it runs without; "
                  "preload the one that is made for it (`chasqui run` finds it)",
                  other));
  if (unload_next_time()) execv("/proc/self/exe", words);
  _exit(1);
}

}  // namespace
}  // namespace chasqui::preload
