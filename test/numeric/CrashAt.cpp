//===- CrashAt.cpp - ends a process before a change of the file system ----===//
//
// The library is preloaded into ranks or pcc. It counts the changes below
// CRASH_FOLDER and kills rank CRASH_RANK (or any process, if it is not set) at
// change number CRASH_AT. If that is a write, half of it is written.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>

static bool isOurs(const char *path) {
  const char *folder = std::getenv("CRASH_FOLDER");
  return folder && path && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

static bool isOurs(int file) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = readlink(link.c_str(), path, sizeof path - 1);
  if (size < 0)
    return false;
  path[size] = '\0';
  return isOurs(path);
}

static bool isChosenRank() {
  const char *chosen = std::getenv("CRASH_RANK");
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return !chosen || (rank && std::strcmp(chosen, rank) == 0);
}

/// Returns whether the process has to die at this change.
static bool isTime() {
  static std::atomic<int> count = 0;
  const char *at = std::getenv("CRASH_AT");
  return at && isChosenRank() && ++count == std::strtol(at, nullptr, 10);
}

static void die() { kill(getpid(), SIGKILL); }

template <typename Function> static Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

extern "C" {
ssize_t write(int file, const void *data, size_t size) {
  static const auto original = next<decltype(write)>("write");
  if (isOurs(file) && isTime()) {
    (void)original(file, data, size / 2);
    die();
  }
  return original(file, data, size);
}

int fsync(int file) {
  static const auto original = next<decltype(fsync)>("fsync");
  if (isOurs(file) && isTime())
    die();
  return original(file);
}

int open(const char *path, int flags, ...) {
  static const auto original = next<decltype(open)>("open");
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (flags & O_CREAT && isOurs(path) && isTime())
    die();
  return original(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) noexcept {
  static const auto original = next<int(const char *, mode_t)>("mkdir");
  if (isOurs(path) && isTime())
    die();
  return original(path, mode);
}

int rename(const char *from, const char *to) noexcept {
  static const auto original = next<int(const char *, const char *)>("rename");
  if (isOurs(to) && isTime())
    die();
  return original(from, to);
}

int renameat2(int fromFolder, const char *from, int toFolder, const char *to,
              unsigned flags) noexcept {
  static const auto original =
      next<int(int, const char *, int, const char *, unsigned)>("renameat2");
  if (isOurs(to) && isTime())
    die();
  return original(fromFolder, from, toFolder, to, flags);
}

int unlinkat(int folder, const char *path, int flags) noexcept {
  static const auto original = next<int(int, const char *, int)>("unlinkat");
  if ((isOurs(path) || (folder >= 0 && isOurs(folder))) && isTime())
    die();
  return original(folder, path, flags);
}
}
