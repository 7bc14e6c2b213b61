//===- pcc.cpp - entry point of the command line tool ---------------------===//
//
// Loads libpcc.so, which contains the tool, LLVM and MLIR. The system's loader
// would end the process with exit code 127 if their 330 MiB of address space
// were not available.
//
//===----------------------------------------------------------------------===//

#include "status/Status.h"
#include "tools/pcc/Tool.h"

#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

/// Prints that libpcc.so cannot be loaded because of `reason`, and returns the
/// exit code: 13 if the memory of this process is limited, otherwise 7.
static int fail(const char *reason) {
  std::fprintf(stderr, "pcc: error: cannot load libpcc.so: %s\n", reason);
  rlimit space{}, data{};
  getrlimit(RLIMIT_AS, &space);
  getrlimit(RLIMIT_DATA, &data);
  const rlim_t limit =
      space.rlim_cur < data.rlim_cur ? space.rlim_cur : data.rlim_cur;
  if (limit == RLIM_INFINITY)
    return pcc::InputOutput;
  std::fprintf(stderr,
               "note: out of memory: the process may use %llu MiB (ulimit %s), "
               "and pcc needs up to 400 MiB\n",
               static_cast<unsigned long long>(limit >> 20),
               limit == space.rlim_cur ? "-v" : "-d");
  return pcc::NoDevice;
}

/// Ends the process because constructors of the library get no memory.
[[noreturn]] static void giveUp() { _exit(fail("out of memory")); }

int main(int argc, char **argv) {
  std::set_new_handler(giveUp);
  std::signal(SIGABRT, [](int) { giveUp(); });
  void *library = dlopen("libpcc.so", RTLD_NOW);
  void *tool = library ? dlsym(library, "pccMain") : nullptr;
  if (!tool)
    return fail(dlerror());
  std::set_new_handler(nullptr);
  std::signal(SIGABRT, SIG_DFL);
  return reinterpret_cast<decltype(&pccMain)>(tool)(argc, argv);
}
