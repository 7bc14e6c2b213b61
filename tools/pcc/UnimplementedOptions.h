//===- UnimplementedOptions.h - options of the interface that are not built ===//

#ifndef PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
#define PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H

#include <CLI/CLI.hpp>

namespace pcc::tool {

/// Adds the options that the interface has and this build has not: a value that
/// is impossible is wrong usage (exit code 2), any other is unsupported (4).
/// Some are options of compile or of verify only.
void addUnimplementedOptions(CLI::App &app, bool isVerify);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_UNIMPLEMENTEDOPTIONS_H
