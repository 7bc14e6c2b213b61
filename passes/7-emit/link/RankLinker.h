//===- RankLinker.h - in-process linking of rank executables --------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `folder` to the path of the support folder, which holds files that pcc
/// links into executables or copies into bundles. Derives it from the path of
/// the pcc library. If the library is linked statically, derives it from the
/// path of the running tool: `/usr/lib/pcc` for `/usr/bin/pcc-opt`. Returns
/// exit code 1 if object files of the runtime are missing.
Status findSupportFolder(std::string &folder);

/// Returns the path of an object file with the runtime and main(). `target` is
/// "cpu" or "cuda". `folder` is the support folder (see findSupportFolder).
std::string rankMain(const std::string &folder, const std::string &target);

/// Links `objects` with the runtime for `target` into the executable `output`,
/// by lld in this process. `folder` is the support folder (see
/// findSupportFolder). The executable can also be loaded as a shared library.
/// Equal inputs give equal bytes; the path of `output` does not matter.
///
/// The machine needs the shared libraries of the runtime, but no compiler.
/// Returns an error with one of these exit codes:
///
///   7    `output` cannot be written
///   13   a library is not installed, or lld runs out of memory or open files
///   1    any other error of lld
Status linkRank(const std::string &folder, const std::string &target,
                const std::vector<std::string> &objects,
                const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
