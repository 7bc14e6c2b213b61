//===- FileChanges.h - durable changes of the file system -----------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
#define PCC_RUNTIME_CHECKPOINT_FILECHANGES_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace pcc::runtime {

/// The file system operations of a save. Every change is reported to a listener
/// before it is made, which lets tests crash a save at every change. A change
/// survives a crash of the machine after the file, or the folder that contains
/// it, has been synced. Methods return exit code 7, with the path, if a change
/// fails.
class FileChanges {
public:
  /// Function that receives the kind of a change and its path.
  using Listener = std::function<void(const char *, const std::string &)>;
  explicit FileChanges(Listener listener = {})
      : listener(std::move(listener)) {}

  /// Creates a folder; succeeds if it exists already.
  Status makeFolder(const std::string &path) const;
  /// Makes all earlier creations, removals and renames in the folder durable.
  Status syncFolder(const std::string &path) const;
  /// Renames a file or a folder. An existing file `to` is replaced atomically.
  Status rename(const std::string &from, const std::string &to) const;
  /// Removes a file, or a folder with its content; succeeds if there is none.
  Status remove(const std::string &path) const;
  /// Writes and syncs `text` under a temporary name and renames the file to
  /// `path`. A reader sees the old file or the complete new one.
  Status replaceFile(const std::string &path, const std::string &text) const;

private:
  friend class NewFile;
  /// Calls the listener, if there is one.
  void announce(const char *change, const std::string &path) const;

  Listener listener;
};

/// A file that is written once, from beginning to end. The destructor closes
/// the file but does not remove it.
class NewFile {
public:
  explicit NewFile(const FileChanges &changes) : changes(changes) {}
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// Creates the file; an existing file is truncated.
  Status create(const std::string &path);
  /// Appends bytes.
  Status write(std::span<const std::byte> bytes);
  /// Syncs and closes the file.
  Status finish();

private:
  const FileChanges &changes;
  std::string path;
  /// Descriptor of the open file; -1 if it is not open.
  int descriptor = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
