//===- ScopedFolder.h - a folder that does not stay by accident -----------===//

#ifndef PCC_RUNTIME_BASE_SCOPEDFOLDER_H
#define PCC_RUNTIME_BASE_SCOPEDFOLDER_H

#include <string>

namespace pcc::runtime {

/// A folder, with all that is in it, that goes when this goes, unless it has
/// been kept.
class ScopedFolder {
public:
  ScopedFolder() = default;
  ScopedFolder(const ScopedFolder &) = delete;
  ScopedFolder &operator=(const ScopedFolder &) = delete;
  ~ScopedFolder();

  /// Takes charge of a folder that has just been made.
  void take(std::string folder);
  /// Leaves the folder where it is.
  void keep();
  /// Empty: none is in charge of this.
  const std::string &path() const { return folder; }

  /// Removes those of all objects: for when nothing will be destroyed any more.
  static void removeAll();
  /// From now on SIGINT, SIGTERM and SIGHUP remove all of them before they end
  /// this process. To be called before there are other threads.
  static void removeAllOnSignals();

private:
  std::string folder;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_SCOPEDFOLDER_H
