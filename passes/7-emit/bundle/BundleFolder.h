//===- BundleFolder.h - atomic creation of a bundle directory -------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H

#include "runtime/base/ScopedFolder.h"
#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace pcc::emit {

/// A bundle that is being written. All files go to a temporary directory beside
/// the final one, which finish() renames. If finish() is not called or fails,
/// the temporary directory is removed (ScopedFolder), so no partial bundle is
/// left. Names of files are relative to the bundle. All errors have exit code
/// 7.
class BundleFolder {
public:
  /// Creates the temporary directory for the bundle `bundle`. Fails if
  /// something that is no bundle and no empty directory has this name. Must
  /// come first.
  runtime::Status create(const std::string &bundle);
  /// Returns the current path of a file of the bundle.
  std::string path(std::string_view name) const;

  /// Writes a file; replaces one that exists.
  runtime::Status write(std::string_view name, std::string_view bytes);
  /// Copies the file at path `from` into the bundle.
  runtime::Status copy(const std::string &from, std::string_view name);
  /// Adds a second name for a file of the bundle: a hard link, or a copy where
  /// the file system allows no further link.
  runtime::Status link(std::string_view existing, std::string_view name);
  /// Creates a folder of the bundle.
  runtime::Status makeFolder(std::string_view name);
  /// Sets the execute permissions that the umask allows.
  runtime::Status makeExecutable(std::string_view name);
  /// Removes a file; one that does not exist is no error.
  runtime::Status remove(std::string_view name);

  /// Renames the temporary directory to the bundle's name. A bundle of that
  /// name is replaced, and restored if the renaming fails.
  runtime::Status finish();

private:
  /// Path of the finished bundle, without trailing slashes.
  std::string bundle;
  /// The temporary directory.
  runtime::ScopedFolder temporary;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
