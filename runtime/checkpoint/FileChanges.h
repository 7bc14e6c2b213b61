//===- FileChanges.h - changes of the file system that last ---------------===//

#ifndef PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
#define PCC_RUNTIME_CHECKPOINT_FILECHANGES_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace pcc::runtime {

/// Every change that saving a checkpoint makes to the file system goes through
/// here, one call per change, and is announced before it is made. What a call
/// has changed survives a crash of the machine once the file, or the folder, is
/// synced. Errors have exit code 7 and name the path.
class FileChanges {
public:
  using Listener = std::function<void(const char *, const std::string &)>;
  explicit FileChanges(Listener listener = {})
      : listener(std::move(listener)) {}

  /// No error if it is there already.
  Status makeFolder(const std::string &path) const;
  Status syncFolder(const std::string &path) const;
  Status rename(const std::string &from, const std::string &to) const;
  /// A file or a folder with all that is in it; no error if it is absent.
  Status remove(const std::string &path) const;
  /// Appears whole and synced, in place of a file that was there.
  Status replaceFile(const std::string &path, const std::string &text) const;

private:
  friend class NewFile;
  void announce(const char *change, const std::string &path) const;

  Listener listener;
};

/// A file that is written once, from its beginning to its end.
class NewFile {
public:
  explicit NewFile(const FileChanges &changes) : changes(changes) {}
  ~NewFile();
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;

  /// Takes the place of a file that is there.
  Status create(const std::string &path);
  Status write(std::span<const std::byte> bytes);
  /// Syncs and closes.
  Status finish();

private:
  const FileChanges &changes;
  std::string path;
  int descriptor = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_CHECKPOINT_FILECHANGES_H
