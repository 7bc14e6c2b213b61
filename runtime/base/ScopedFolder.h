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
/// its content, unless keep() has been called before. All objects of the
/// process are recorded in one registry, which removeAll() uses. All methods
/// may be called from any thread, but one object must not be used by two
/// threads at once.
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

  /// Deletes the folders that all objects of this process own. Intended for
  /// exits on which destructors do not run, for instance after a crash was
  /// caught.
  static void removeAll();
  /// Makes the process call removeAll() when SIGINT, SIGTERM or SIGHUP arrives,
  /// and then end by that signal. A new thread waits for these signals; all
  /// other threads must block them. A thread inherits blocked signals from the
  /// thread that starts it. Therefore call this function before the process
  /// starts other threads.
  static void removeAllOnSignals();

private:
  /// Path of the owned folder; empty if there is none.
  std::string folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SCOPEDFOLDER_H
