//===- Unfinished.h - files and folders under a temporary name ------------===//
//
// A command writes its result under a temporary name next to the final one,
// and gives it the final name in one step at the end. Another process sees
// either the old or the new result under the final name, also if the command is
// killed at any moment.
//
//   model.pcc                old result, until finish()
//   model.pcc.part-x7Kq02    new result, until finish()
//
// A temporary name that stays because its process was killed is called litter.
// Each living process holds a lock (flock) on its temporary files and folders,
// so the next command for the same final name can tell litter by its missing
// lock, and removes it.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_BASE_UNFINISHED_H
#define PCC_RUNTIME_BASE_UNFINISHED_H

#include "runtime/base/ScopedFolder.h"
#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Returns the error (exit code 7) for a file at `path` that cannot be written
/// because of `error`, a value of errno. Sets errno to `error`.
Status writeFailure(const std::string &path, int error);

/// A file or a folder that is being written under a temporary name. finish()
/// renames the file or folder to its final name. If finish() is not called, or
/// if it fails, the destructor deletes the file or folder. If a function of
/// this class fails, the function returns an error with exit code 7
/// (InputOutput).
class Unfinished {
public:
  Unfinished() = default;
  Unfinished(const Unfinished &) = delete;
  Unfinished &operator=(const Unfinished &) = delete;
  ~Unfinished() { abandon(); }

  /// Creates an empty folder under a temporary name. `target` is the folder's
  /// final path, which finish() gives to the folder. `mode` is the permissions
  /// of the folder; the umask removes bits from `mode`, as in mkdir().
  ///
  /// A process that is killed leaves its temporary file or folder on disk. This
  /// function first deletes the files and folders that killed processes left
  /// under temporary names of the same `target`.
  Status createFolder(const std::string &target, unsigned mode = 0777);
  /// Creates an empty regular file under a temporary name; `target` is its
  /// final path. Copies the permissions of an existing regular file at
  /// `target`.
  Status createFile(const std::string &target);

  /// Returns the temporary path; empty if this object holds nothing.
  const std::string &path() const { return guard.path(); }
  /// Returns a descriptor of the file or folder; -1 if this object holds
  /// nothing. This object owns the descriptor.
  int descriptor() const { return lock; }

  /// Renames the temporary file or folder to its final name. Replaces an
  /// existing file of this name, or an existing folder with its content. If the
  /// rename fails, the existing file or folder stays unchanged.
  Status finish();

  /// Deletes the file or folder. Does nothing if this object holds none.
  void abandon();

private:
  Status create(const std::string &path, unsigned mode, bool isFolder);

  std::string target; ///< final path, without trailing slashes
  ScopedFolder guard;
  int lock = -1; ///< descriptor that holds the lock
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_UNFINISHED_H
