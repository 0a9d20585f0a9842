// SPDX-License-Identifier: MIT
// A program may call MPI while it ends: in the destructor of a static object, in a function of atexit(). The main thread's own objects are gone
// by then, and a component that was loaded in MPI_Init would have lost its static ones too. So nothing of this library is destroyed but what a
// further thread has, when that ends: the compiler asks for destructors here, and not in the libraries behind.
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
[[gnu::visibility("hidden")]] int __cxa_atexit(void (*destroy)(void*), void* object, void* library);
[[gnu::visibility("hidden")]] int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library);

int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  const bool of_main_thread = syscall(SYS_gettid) == getpid();
  return of_main_thread ? 0 : __cxa_thread_atexit_impl(destroy, object, library);
}
}
