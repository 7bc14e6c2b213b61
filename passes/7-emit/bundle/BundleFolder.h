//===- BundleFolder.h - atomic creation of a bundle directory -------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H

#include "runtime/base/Unfinished.h"
#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::emit {

/// A bundle (the directory that pcc writes) during its creation. All files go
/// to a temporary directory next to the final one (runtime::Unfinished), and
/// finish() gives it the final name. If finish() is not called or fails, the
/// destructor erases the temporary directory, so no partial bundle is left.
/// Names of files are relative to the bundle. All errors have exit code 7.
class BundleFolder {
public:
  /// Creates the temporary directory for the bundle with path `bundle`. Fails
  /// if this path exists and is neither a bundle nor an empty directory, or if
  /// the old bundle holds a file that does not belong to a bundle, such as a
  /// checkpoint of the user. Must be called before all other methods.
  Status create(const std::string &bundle);
  /// Returns the path, within the temporary directory, of the file `name` of
  /// the bundle.
  std::string path(std::string_view name) const;

  /// Writes the file `name`. Replaces an existing file of that name.
  Status write(std::string_view name, std::string_view bytes);
  /// Copies the file at path `from` into the bundle, as file `name`.
  Status copy(const std::string &from, std::string_view name);
  /// Makes `name` a second name (hard link) of the bundle's file `existing`.
  /// Copies the file if the file system allows no further link.
  Status link(std::string_view existing, std::string_view name);
  /// Creates the empty folder `name` in the bundle.
  Status makeFolder(std::string_view name);
  /// Makes the file `name` readable, writable and executable for everyone,
  /// except for permissions that the umask denies.
  Status makeExecutable(std::string_view name);
  /// Erases the file `name`. If there is no such file, returns success.
  Status remove(std::string_view name);

  /// Renames the temporary directory to the path of the bundle, and replaces an
  /// old bundle at that path in one step. On failure the old bundle is
  /// unchanged.
  Status finish();

private:
  /// Path of the finished bundle, without trailing slashes.
  std::string bundle;
  /// The temporary directory.
  runtime::Unfinished temporary;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
