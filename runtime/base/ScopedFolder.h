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

/// Owns one folder (or file) on disk. The destructor deletes the folder with
/// its content, unless keep() was called. removeAll() does so for all objects
/// of the process. Two threads must not use one object at once.
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
  /// Makes SIGINT, SIGTERM and SIGHUP delete all owned folders (removeAll())
  /// before they end the process. Call this before the process starts other
  /// threads: the function blocks the signals, and only later threads inherit
  /// this.
  static void removeAllOnSignals();

private:
  /// Path of the owned folder; empty if there is none.
  std::string folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SCOPEDFOLDER_H
