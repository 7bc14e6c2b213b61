//===- UnimplementedOptions.h - documented options that are not built -----===//

#ifndef PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
#define PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds the options that the interface documents and this build does not
/// implement. Parsing one of them throws: a wrong value is wrong usage (exit
/// code 2), any other use is unsupported (exit code 4). `isVerify`: whether
/// `app` is `pcc verify`, which has options of its own.
void addUnimplementedOptions(CLI::App &app, bool isVerify);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
