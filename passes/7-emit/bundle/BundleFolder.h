//===- BundleFolder.h - atomic creation of a bundle directory -------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H

#include "runtime/base/Unfinished.h"
#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::emit {

/// Bundle during its creation. All files go to a temporary directory, which
/// finish() renames to the final path. Without finish(), the destructor erases
/// the directory. Names of files are relative to the bundle. All errors have
/// exit code 7.
class BundleFolder {
public:
  /// Creates a temporary directory for the bundle with path `bundle`. Must be
  /// called first. Fails if something exists at this path, with two exceptions:
  ///
  ///   - an empty directory,
  ///   - an old bundle without files of the user, such as checkpoints.
  Status create(const std::string &bundle);
  /// Returns the path of the bundle's file `name` before finish(): a path in a
  /// temporary directory.
  std::string path(std::string_view name) const;

  /// Writes the file `name`. Replaces an existing file of that name.
  Status write(std::string_view name, std::string_view bytes);
  /// Copies the file at path `from` into the bundle, as file `name`.
  Status copy(const std::string &from, std::string_view name);
  /// Makes `name` a hard link to the bundle's file `existing`. Copies the file
  /// if the link fails.
  Status link(std::string_view existing, std::string_view name);
  /// Creates the empty folder `name` in the bundle.
  Status makeFolder(std::string_view name);
  /// Gives the file `name` all permissions (0777) that the umask allows.
  Status makeExecutable(std::string_view name);
  /// Erases the file `name`. If there is no such file, returns success.
  Status remove(std::string_view name);

  /// Renames the temporary directory to the path of the bundle. Replaces an old
  /// bundle in one step. On failure the old bundle is unchanged.
  Status finish();

private:
  /// Path of the finished bundle, without trailing slashes.
  std::string bundle;
  /// The temporary directory.
  runtime::Unfinished temporary;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
