// SPDX-License-Identifier: MIT
// Preloaded under SimGrid 3.32: two things that take its simulator long and change no timed result.
// Detached messages of all ranks are kept in one list, and that is walked through, whole, whenever a message ends: with 256 ranks
// and 65 000 messages under way nearly all of a run's time goes there. Nobody else reads that list: what goes into it is kept
// out. (Its nodes hold a reference to their message, so each message stays in memory until the end.)
// The first call of a two-level algorithm asks who leads whom by an all-gather along a ring: P * P messages, 17 million on 4096
// ranks. It goes in log P rounds instead. That call is never timed.
// A SimGrid without these symbols never comes here.
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

/// Does this address lie in the function of that name?
bool lies_in(const void* address, const char* name) {
  static void* const function = dlsym(RTLD_NEXT, name);
  Dl_info found{};
  return function != nullptr && dladdr(address, &found) != 0 && found.dli_saddr == function;
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

/// simgrid::smpi::allgather__ring(): as it is, unless simgrid::smpi::Comm::init_smp() calls it.
extern "C" int _ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE(const void* in, int count,
                                                                                      void* type, void* out, int gotten,
                                                                                      void* as, void* comm) {
  using AllGather = int (*)(const void*, int, void*, void*, int, void*, void*);
  static const auto ring = next<AllGather>("_ZN7simgrid4smpi15allgather__ringEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  static const auto rounds = next<AllGather>("_ZN7simgrid4smpi16allgather__bruckEPKviPNS0_8DatatypeEPviS4_PNS0_4CommE");
  const bool first = lies_in(__builtin_return_address(0), "_ZN7simgrid4smpi4Comm8init_smpEv");
  return (first ? rounds : ring)(in, count, type, out, gotten, as, comm);
}
