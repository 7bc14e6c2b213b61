//===- ManualPage.h - manual pages of commands ----------------------------===//

#ifndef PCC_TOOLS_PCC_REFERENCE_MANUALPAGE_H
#define PCC_TOOLS_PCC_REFERENCE_MANUALPAGE_H

#include "runtime/engine/options/CommandPage.h"

#include <string>
#include <vector>

namespace pcc::tool {

/// Returns the name of the manual page of a command: "pcc run" is "pcc-run".
std::string manualName(const std::string &command);

/// Returns the manual page of a command for `man`, in the macros of man(7). It
/// has the exit codes, and `related`, names of other pages.
std::string manualPage(const runtime::CommandPage &page,
                       const std::vector<std::string> &related);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_REFERENCE_MANUALPAGE_H
