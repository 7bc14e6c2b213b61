//===- FolderLock.h - exclusive lock on a directory -----------------------===//

#ifndef PCC_RUNTIME_BASE_FOLDERLOCK_H
#define PCC_RUNTIME_BASE_FOLDERLOCK_H

#include <string>

namespace pcc::runtime {

/// Exclusive lock (flock) on a directory among processes. The destructor
/// releases the lock. On a file system without locks the object does nothing.
class FolderLock {
public:
  /// Takes the lock of `folder`. While another process holds the lock, retries
  /// every 10 ms, up to `tries` times.
  explicit FolderLock(const std::string &folder, int tries = 100);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

  /// Returns whether the constructor did not get the lock, because another
  /// process held it.
  bool isBusy() const { return busy; }

private:
  int file;
  bool busy = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_FOLDERLOCK_H
