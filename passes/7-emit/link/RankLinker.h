//===- RankLinker.h - in-process linking of rank executables --------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `folder` to the path of the support folder. It holds the files with
/// which pcc links rank executables, and files that pcc copies into bundles
/// (the directories that pcc writes). The support folder is `../lib/pcc`,
/// relative to the folder of the file that contains this code: the pcc library,
/// or a tool that is linked with pcc statically. Returns exit code 1 if the
/// support folder lacks the object files of the runtime.
Status findSupportFolder(std::string &folder);

/// Returns the path of the object file with the runtime and main() of rank
/// executables for `target`. `folder` is the path of the support folder.
std::string rankMain(const std::string &folder, const std::string &target);

/// Links `objects` with the runtime for `target` by lld, in this process, and
/// writes the executable `output`. `folder` is the path of the support folder.
/// The executable can also be loaded as a library: it is a shared object with
/// an interpreter (dynamic loader) and an entry point. Equal inputs give equal
/// bytes, whatever path `output` is.
///
/// The machine needs the shared libraries that the runtime uses, but neither a
/// compiler nor development files. Returns an error with one of these exit
/// codes:
///
///   7    `output` cannot be written
///   13   a library is not installed; the message names the library's package
///   1    any other error of lld
Status linkRank(const std::string &folder, const std::string &target,
                const std::vector<std::string> &objects,
                const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
