//===- RunPage.h - page of a run (pcc run --html) -------------------------===//

#ifndef PCC_TOOLS_PCC_RUNPAGE_H
#define PCC_TOOLS_PCC_RUNPAGE_H

#include "tools/pcc/CompileCommand.h"

namespace pcc::tool {

/// Runs a bundle like runtime::runBundle() and writes the page `request.html`.
/// It shows the last step beside the planned one. `arguments` are those of the
/// ranks. If the page cannot be written, returns exit code 7, before the run if
/// possible. A run that fails leaves an existing page unchanged.
Status runWithPage(RunRequest request, std::vector<std::string> arguments);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_RUNPAGE_H
