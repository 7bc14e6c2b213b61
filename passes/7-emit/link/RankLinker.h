//===- RankLinker.h - in-process linking of rank executables --------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `folder` to the folder with the files that pcc links into executables
/// or copies into bundles. Example: "/usr/lib/pcc" for the library
/// "/usr/lib/libpcc.so" or the program "/usr/bin/pcc-opt". Returns exit code 1
/// if an object file of the runtime is missing in the folder.
Status findSupportFolder(std::string &folder);

/// Returns the path of the object file that contains the runtime and main().
/// pcc links this file into each rank executable. `target` is "cpu" or "cuda".
/// `folder` is the folder with the files that pcc links into executables.
/// Example: for the folder "/usr/lib/pcc" and the target "cpu", returns
/// "/usr/lib/pcc/rank-main-cpu.o".
std::string rankMain(const std::string &folder, const std::string &target);

/// Links `objects` and the runtime into the rank executable `output`, with lld
/// in this process. The executable is also a shared library, which a process
/// can load with dlopen(). `objects` must lie in the folder of `output`. Equal
/// inputs give equal bytes. Exit codes: 7 if `output` cannot be written; 13 if
/// a library is not installed, memory runs out, or the limit on open files is
/// reached; otherwise 1.
Status linkRank(const std::string &folder, const std::string &target,
                const std::vector<std::string> &objects,
                const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
