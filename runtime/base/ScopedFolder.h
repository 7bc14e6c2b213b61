//===- ScopedFolder.h - removal of unfinished folders on any exit ---------===//
//
// Commands write their result under a temporary name and rename it at the end.
// If the command fails, crashes or is killed by a signal before that, the
// temporary folder must not stay on disk.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_SCOPEDFOLDER_H
#define PCC_RUNTIME_BASE_SCOPEDFOLDER_H

#include <string>

namespace pcc::runtime {

/// Owns one folder (or one file) on disk. The destructor deletes the folder
/// with its content. After keep(), the object owns no folder, and the
/// destructor deletes nothing. removeAll() deletes the folders of all objects
/// of this process. Two threads must not call functions of one object at the
/// same time.
class ScopedFolder {
public:
  ScopedFolder() = default;
  ScopedFolder(const ScopedFolder &) = delete;
  ScopedFolder &operator=(const ScopedFolder &) = delete;
  ~ScopedFolder();

  /// Takes ownership of `folder`, which the caller has just created. The object
  /// must not own another folder.
  void take(std::string folder);
  /// Deletes the owned folder with its content; does nothing if there is none.
  void remove();
  /// Gives up ownership, so that the destructor does not delete the folder.
  void keep();
  /// Returns the path of the owned folder; empty if this object owns none.
  const std::string &path() const { return folder; }

  /// Deletes the folders that all objects of this process own. Used for exits
  /// without destructors, for example after a crash.
  static void removeAll();
  /// Starts a thread that waits for a signal that ends a process from outside:
  /// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM or SIGXCPU.
  /// When one of these signals arrives, the thread calls removeAll(), and then
  /// ends the process by the same signal. The thread does not wait for a signal
  /// that the process ignored or blocked when the process started.
  ///
  /// Call this function before the process starts other threads. The function
  /// blocks the signals in the calling thread, and later threads inherit the
  /// block. In a thread that already runs, a signal would end the process
  /// before the folders are deleted.
  static void removeAllOnSignals();

private:
  /// Path of the owned folder; empty if there is none.
  std::string folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SCOPEDFOLDER_H
