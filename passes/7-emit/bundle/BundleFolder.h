//===- BundleFolder.h - atomic creation of a bundle directory -------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H

#include "runtime/base/Unfinished.h"
#include "status/Status.h"

#include <string>
#include <string_view>

namespace pcc::emit {

/// Writes the directory of a bundle. create() creates a temporary directory,
/// and other methods write files into it. finish() renames the temporary
/// directory to the path of the bundle. If finish() is not called, or if it
/// fails, the destructor erases the temporary directory. The parameter `name`
/// of a method is the path of a file relative to the bundle, such as
/// `rank-000`. If a method fails, the exit code of the error is 7.
class BundleFolder {
public:
  /// Creates the temporary directory. Call it before all other methods.
  /// `bundle` is the path of the finished bundle. Fails if this path exists,
  /// unless it is an empty directory, or a bundle that contains only files that
  /// pcc wrote.
  Status create(const std::string &bundle);
  /// Returns the path of the file `name` in the temporary directory. The path
  /// is valid until finish() renames the directory to the path of the bundle.
  std::string path(std::string_view name) const;

  /// Writes the file `name`. Replaces an existing file of that name.
  Status write(std::string_view name, std::string_view bytes);
  /// Copies the file at path `from` into the bundle, as file `name`.
  Status copy(const std::string &from, std::string_view name);
  /// Makes `name` a hard link to the bundle's file `existing`. If the link
  /// fails, as a file of ext4 has at most 65,000 names, makes `name` a copy of
  /// the file, and sets `existing` to `name`, so that further links lead to the
  /// copy.
  Status link(std::string &existing, const std::string &name);
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
