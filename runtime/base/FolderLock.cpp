//===- FolderLock.cpp - exclusive lock on a directory ---------------------===//

#include "runtime/base/FolderLock.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

FolderLock::FolderLock(const std::string &folder, int tries)
    : file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  for (; file >= 0; --tries) {
    busy = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy || tries <= 0)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

FolderLock::~FolderLock() {
  if (file >= 0)
    close(file);
}

} // namespace pcc::runtime
