// SPDX-License-Identifier: MIT
// Preloaded under SimGrid 3.32, which keeps all detached messages of all ranks in one list and walks through it, whole,
// whenever a message ends: with 256 ranks and 65 000 messages under way nearly all of a run's time goes there. Nobody
// else reads that list: what goes into it is kept out, and simulated time stays the same. (Its nodes hold a reference
// to their message, so each message stays in memory until the end.) A SimGrid without these symbols never comes here.
#include <dlfcn.h>

#include <cstdlib>

namespace {
bool detaching = false;  // one thread simulates all ranks

template <class Function>
Function next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}
}  // namespace

/// simgrid::kernel::activity::CommImpl::detach(): marks the message, and appends it to the list.
extern "C" void* _ZN7simgrid6kernel8activity8CommImpl6detachEv(void* message) {
  static const auto original = next<void* (*)(void*)>("_ZN7simgrid6kernel8activity8CommImpl6detachEv");
  detaching = true;
  void* result = original(message);
  detaching = false;
  return result;
}

/// std::__detail::_List_node_base::_M_hook(): links a node into a list.
extern "C" void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(void* node, void* before) {
  static const auto original = next<void (*)(void*, void*)>("_ZNSt8__detail15_List_node_base7_M_hookEPS0_");
  if (!detaching) original(node, before);
}
