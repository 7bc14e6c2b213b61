//===- RankLinker.h - in-process linking of rank executables --------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `folder` to the path of the folder with the files that pcc links into
/// executables or copies into bundles. pcc is usually a shared library. The
/// folder is found from the path of this library. Example: for the library
/// "/usr/lib/libpcc.so", the folder is "/usr/lib/pcc".
///
/// If pcc is linked statically into a program, the folder is found from the
/// path of this program. Example: for the program "/usr/bin/pcc-opt", the
/// folder is also "/usr/lib/pcc". Returns exit code 1 if an object file of the
/// runtime is missing in the folder.
Status findSupportFolder(std::string &folder);

/// Returns the path of the object file that contains the runtime and main().
/// pcc links this file into each rank executable. `target` is "cpu" or "cuda".
/// `folder` is the folder with the files that pcc links into executables.
/// Example: for the folder "/usr/lib/pcc" and the target "cpu", returns
/// "/usr/lib/pcc/rank-main-cpu.o".
std::string rankMain(const std::string &folder, const std::string &target);

/// Links `objects` and the runtime into `output`, the executable of a rank,
/// which can also be loaded as a shared library. Calls the linker lld in this
/// process, so no compiler needs to be installed. `folder` is from
/// findSupportFolder(). `target` is "cpu" or "cuda". `objects` must lie in the
/// folder of `output`. Equal inputs give equal bytes, whatever the path of
/// `output` is. Returns exit code 7 if `output` cannot be written. Returns 13
/// if a shared library of the executable is not installed, or lld runs out of
/// memory or open files. Returns 1 for any other error of lld.
Status linkRank(const std::string &folder, const std::string &target,
                const std::vector<std::string> &objects,
                const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
