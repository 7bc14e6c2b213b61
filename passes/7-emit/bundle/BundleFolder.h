//===- BundleFolder.h - a directory that appears whole --------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H

#include "runtime/base/ScopedFolder.h"
#include "runtime/base/Status.h"

#include <string>
#include <string_view>

namespace pcc::emit {

/// A bundle in the making: a sibling of the final directory, which is renamed
/// in the end and removed if that does not happen. All errors have exit code 7.
class BundleFolder {
public:
  runtime::Status create(const std::string &bundle);
  /// Of a file in the making.
  std::string path(std::string_view name) const;

  runtime::Status write(std::string_view name, std::string_view bytes);
  runtime::Status copy(const std::string &from, std::string_view name);
  /// A second name for a file; a copy where the file system has no more links.
  runtime::Status link(std::string_view existing, std::string_view name);
  runtime::Status makeFolder(std::string_view name);
  runtime::Status makeExecutable(std::string_view name);
  runtime::Status remove(std::string_view name);

  /// Gives the directory its name. A bundle that has it is replaced; anything
  /// else there is an error.
  runtime::Status finish();

private:
  std::string bundle; ///< final name
  runtime::ScopedFolder temporary;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEFOLDER_H
