//===- FolderLock.h - exclusive lock on a directory -----------------------===//

#ifndef PCC_RUNTIME_BASE_FOLDERLOCK_H
#define PCC_RUNTIME_BASE_FOLDERLOCK_H

#include <string>

namespace pcc::runtime {

/// Exclusive lock on a directory, taken with flock(). While one process holds
/// the lock, no other process can take the lock of the same directory. The
/// destructor releases the lock.
///
/// If the directory cannot be opened, or if its file system does not support
/// flock(), the object holds no lock, and isBusy() returns false.
class FolderLock {
public:
  /// Tries to lock the directory `folder`. While another process holds the
  /// lock, the constructor waits 10 ms and tries again, at most `tries` times.
  /// For example, 100 tries take about one second. If the other process still
  /// holds the lock after the last try, this object holds no lock, and isBusy()
  /// returns true.
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
