//===- UnimplementedOptions.h - documented options that are not built -----===//

#ifndef PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
#define PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds the options that the interface documents and this build does not
/// implement. Parsing one of them throws: exit code 2 (wrong usage) for a wrong
/// value, exit code 4 (unsupported) otherwise. `isVerify` is true if `app` is
/// `pcc verify`, which has additional options of this kind.
void addUnimplementedOptions(CLI::App &app, bool isVerify);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
