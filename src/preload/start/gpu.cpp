// SPDX-License-Identifier: MIT
#include "preload/start/gpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <initializer_list>

// Functions of the MPI library, each there or not with its version.
extern "C" {
__attribute__((weak)) int MPIX_Query_cuda_support(void);
__attribute__((weak)) int MPIX_Query_rocm_support(void);  // Open MPI
__attribute__((weak)) int MPIX_Query_hip_support(void);   // MPICH
__attribute__((weak)) int MPIX_Query_ze_support(void);
}

namespace chasqui::preload {
namespace {

using Query = int (*)();
bool yes(Query query) { return query != nullptr && query() != 0; }

bool any_is_there(std::initializer_list<const char*> files) {
  return std::any_of(files.begin(), files.end(), [](const char* file) { return access(file, F_OK) == 0; });
}

}  // namespace

bool takes_gpu_pointers() {
  const bool cuda = yes(MPIX_Query_cuda_support);
  const bool hip = yes(MPIX_Query_rocm_support) || yes(MPIX_Query_hip_support);
  // By which programs reach a GPU: NVIDIA's driver, that of its small boards, Windows' subsystem; AMD's; Intel's.
  return (cuda && any_is_there({"/dev/nvidiactl", "/dev/nvmap", "/dev/dxg"})) || (hip && any_is_there({"/dev/kfd"})) ||
         (yes(MPIX_Query_ze_support) && any_is_there({"/dev/dri"}));
}

}  // namespace chasqui::preload
