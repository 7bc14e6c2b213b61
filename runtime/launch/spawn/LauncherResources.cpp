//===- LauncherResources.cpp - files and space that mpirun needs ----------===//

#include "runtime/launch/spawn/LauncherResources.h"

#include "runtime/base/InheritedState.h"
#include "status/Counted.h"

#include <cstdint>
#include <sys/resource.h>
#include <sys/statvfs.h>

namespace pcc::runtime {

Status allowOpenFiles(const std::string &launcher, int worldSize) {
  // mpirun of Open MPI 4.1 needed 38 open files for 2 ranks and 48 open files
  // for 4 ranks. The formula gives 4 more: 42 for 2 ranks and 52 for 4 ranks.
  const rlim_t wanted = 32 + 5 * rlim_t(worldSize);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (raiseLimit(RLIMIT_NOFILE, wanted, wanted))
    return Status::success();
  return Status::error(
      NoDevice,
      launcher + " needs " + std::to_string(wanted) + " open files for " +
          counted(worldSize, "rank") + ", but the limit is " +
          std::to_string(limit.rlim_cur),
      {"raise it with 'ulimit -n', or run all ranks in one process with "
       "--comm thread"});
}

/// Size of the file in which a rank keeps its messages to other ranks. 4 MiB
/// are for the messages. This is the default of Open MPI's parameter
/// btl_vader_segment_size. 64 KiB are for the headers that Open MPI stores in
/// the file.
static constexpr uint64_t kBytesOfMessages = (4 << 20) + (64 << 10);

static std::string kibibytes(uint64_t bytes) {
  return std::to_string(bytes >> 10) + " KiB";
}

Status checkFileSizeLimit(const std::string &launcher) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
      limit.rlim_cur >= kBytesOfMessages)
    return Status::success();
  return Status::error(
      InputOutput,
      launcher + " writes files of " + kibibytes(kBytesOfMessages) +
          ", but the limit of a file's size is " + kibibytes(limit.rlim_cur),
      {"raise it with 'ulimit -f', or run all ranks in one "
       "process with --comm thread"});
}

/// Returns the free bytes of the file system of `folder`; 0 if `folder` is
/// missing or read-only.
static uint64_t freeBytes(const std::string &folder) {
  struct statvfs found = {};
  if (statvfs(folder.c_str(), &found) != 0 || (found.f_flag & ST_RDONLY))
    return 0;
  return uint64_t(found.f_bavail) * found.f_frsize;
}

bool holdsMessages(const std::string &folder, int worldSize) {
  return freeBytes(folder) >= uint64_t(worldSize) * kBytesOfMessages;
}

Status checkSpace(const std::string &launcher, const std::string &folder,
                  int worldSize, bool withMessages) {
  // mpirun (Open MPI 4.1) creates files in `folder`. The table shows their
  // measured total size, without the files for messages between the ranks.
  // Reserve a little more by the formula 9 MiB + 128 KiB per rank:
  //
  //   ranks   measured    formula
  //   2       8,440 KiB   9,472 KiB
  //   16      9,952 KiB   11,264 KiB
  const uint64_t ranks = uint64_t(worldSize);
  const uint64_t needed = (9 << 20) + ranks * (128 << 10) +
                          (withMessages ? ranks * kBytesOfMessages : 0);
  const uint64_t left = freeBytes(folder);
  if (left >= needed)
    return Status::success();
  return Status::error(
      InputOutput,
      launcher + " needs " + kibibytes(needed) + " in '" + folder + "' for " +
          counted(worldSize, "rank") + ", but " + kibibytes(left) + " are free",
      {"set TMPDIR to a folder with more space, or run all ranks in one "
       "process with --comm thread"});
}

} // namespace pcc::runtime
