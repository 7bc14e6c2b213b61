//===- ShellScripts.h - completion scripts of shells ----------------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_SHELLSCRIPTS_H
#define PCC_TOOLS_PCC_REFERENCE_SHELLSCRIPTS_H

#include <span>

namespace pcc::tool {

/// Completion of one shell. The script calls `pcc __complete` at each TAB, so
/// that it knows the options of the pcc that is installed.
struct ShellScript {
  const char *shell;
  /// Place of the script below the folder `share` of an installation.
  const char *place;
  const char *text;
};

/// Returns the scripts of all shells that pcc knows.
std::span<const ShellScript> shellScripts();

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_SHELLSCRIPTS_H
