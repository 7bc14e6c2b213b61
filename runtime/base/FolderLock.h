//===- FolderLock.h - exclusive lock on a directory -----------------------===//

#ifndef PCC_RUNTIME_BASE_FOLDERLOCK_H
#define PCC_RUNTIME_BASE_FOLDERLOCK_H

#include <string>

namespace pcc::runtime {

/// Exclusive lock (flock) on a directory among processes. The destructor
/// releases the lock. On a file system without locks the object does nothing.
class FolderLock {
public:
  /// Takes the lock of `folder`. If another process has the lock, tries again
  /// for up to `tries` times 10 ms, so that a suspended process does not block
  /// this one for ever.
  explicit FolderLock(const std::string &folder, int tries = 100);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

  /// Returns whether another process had the lock during all tries.
  bool isBusy() const { return busy; }

private:
  int file;
  bool busy = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_FOLDERLOCK_H
