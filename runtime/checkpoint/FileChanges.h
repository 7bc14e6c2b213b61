//===- FileChanges.h - durable changes of the file system -----------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
#define PCC_RUNTIME_CHECKPOINT_FILECHANGES_H

#include "status/Status.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace pcc::runtime {

/// Makes the changes of the file system that the save of a checkpoint needs.
/// Before each change, the object calls the listener that was passed to the
/// constructor. A test can pass a listener that ends the process, to simulate a
/// crash. If a change fails, the member function returns an error with exit
/// code 7, which contains the path.
///
/// A change survives a crash of the machine only after a sync. Written bytes
/// need a sync of the file. A created, removed or renamed file or folder needs
/// a sync of its parent folder.
class FileChanges {
public:
  /// Function that FileChanges calls before each change of the file system. The
  /// first argument is the kind of the change: "make", "create", "write",
  /// "sync", "rename" or "remove". The second argument is the path of the file
  /// or folder that is about to change.
  using Listener = std::function<void(const char *, const std::string &)>;
  explicit FileChanges(Listener listener = {})
      : listener(std::move(listener)) {}

  /// Creates a folder; succeeds if it exists already.
  Status makeFolder(const std::string &path) const;
  /// Syncs the folder `path`: all earlier creations, removals and renames of
  /// its entries then survive a crash of the machine.
  Status syncFolder(const std::string &path) const;
  /// Renames the file or folder `from` to `to`. An existing file at `to` is
  /// replaced atomically.
  Status rename(const std::string &from, const std::string &to) const;
  /// Removes the file at `path`, or the folder at `path` with its content;
  /// succeeds if nothing exists there.
  Status remove(const std::string &path) const;
  /// Replaces the file at `path` by one that contains `text`. A concurrent
  /// reader sees either the whole old file or the whole new file. The new
  /// content is synced.
  Status replaceFile(const std::string &path, const std::string &text) const;

private:
  friend class NewFile;
  /// Calls the function `listener`, if there is one, with the kind and the path
  /// of a change that is about to be made.
  void announce(const char *change, const std::string &path) const;

  Listener listener;
};

/// A new file that is written sequentially: create(), write() any number of
/// times, finish(). The destructor closes the file but does not remove it.
class NewFile {
public:
  explicit NewFile(const FileChanges &changes) : changes(changes) {}
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// Creates the file at `path` and opens it for writing; an existing file is
  /// truncated.
  Status create(const std::string &path);
  /// Appends `bytes` to the open file.
  Status write(std::span<const std::byte> bytes);
  /// Syncs the file, so that its content survives a crash of the machine, and
  /// closes it.
  Status finish();

private:
  const FileChanges &changes;
  std::string path;
  /// Descriptor of the open file; -1 if it is not open.
  int descriptor = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
