//===- NcclLibrary.cpp - function table of NCCL, loaded at run time -------===//

#include "runtime/comm/nccl/NcclLibrary.h"
#include "runtime/base/SharedLibrary.h"
#include "runtime/base/WatchedCalls.h"
#include "runtime/comm/nccl/NcclWorld.h"

#include <sys/statvfs.h>

namespace pcc::runtime {

static constexpr const char *soname = "libnccl.so.2";

/// Oldest supported version of NCCL, the first that supports CUDA 13.
static constexpr int oldest = NCCL_VERSION(2, 27, 0);

static void fillTable(SharedLibrary &symbols, NcclLibrary &library) {
#define PCC_FIND(function) symbols.find(#function, library.function);
  PCC_NCCL_FUNCTIONS(PCC_FIND)
#undef PCC_FIND
}

/// Returns NCCL's version number as text, such as "2.28.9" for 22809.
static std::string versionText(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

/// Replaces each function pointer in `library` by a wrapper. The wrapper calls
/// the NCCL function. The wrapper also counts the calls that have begun and the
/// calls that have ended. Another thread reads both counts (WatchedCalls.h). If
/// a call has begun but does not end for a long time, the call hangs.
static void watchTable(NcclLibrary &library) {
#define PCC_WATCH(function) watchCalls<&NcclLibrary::function>(library);
  PCC_NCCL_FUNCTIONS(PCC_WATCH)
#undef PCC_WATCH
}

Status openNcclLibrary(NcclLibrary &library) {
  SharedLibrary symbols(soname, cudaFolders());
  if (!symbols.isOpen())
    return Status::error(NoDevice, symbols.error(),
                         {"name its folder in PCC_CUDA_LIBRARIES"});
  fillTable(symbols, library);
  int version = 0;
  if (library.ncclGetVersion)
    library.ncclGetVersion(&version);
  if (symbols.firstAbsent() || version < oldest)
    return Status::error(NoDevice, std::string(soname) + " is of version " +
                                       versionText(version) + ", pcc needs " +
                                       versionText(oldest));
  watchTable(library);
  return Status::success();
}

Status findNccl(std::string &version) {
  NcclLibrary library;
  PCC_RETURN_IF_ERROR(openNcclLibrary(library));
  int number = 0;
  Status status =
      library.check(library.ncclGetVersion(&number), "ncclGetVersion");
  version = versionText(number);
  return status;
}

/// Returns hints for the error message of a failed NCCL call, such as the free
/// space in /dev/shm. Each communicator needs tens of MiB there, and a
/// container often has only 64 MiB.
static std::vector<std::string> notesOfSystem() {
  std::vector<std::string> notes = {"set NCCL_DEBUG=WARN for more details"};
  struct statvfs memory = {};
  if (statvfs("/dev/shm", &memory) == 0)
    notes.push_back("/dev/shm has " +
                    std::to_string(memory.f_bavail * memory.f_frsize >> 20) +
                    " MiB left; communicators may need more");
  return notes;
}

Status NcclLibrary::check(ncclResult_t result, const char *call) const {
  if (isBegun(result))
    return Status::success();
  const bool isSystems =
      result == ncclSystemError || result == ncclUnhandledCudaError;
  return Status::error(
      isSystems || result == ncclRemoteError ? PeerLost : Defect,
      std::string(call) + " failed: " + ncclGetErrorString(result),
      isSystems ? notesOfSystem() : std::vector<std::string>());
}

} // namespace pcc::runtime
