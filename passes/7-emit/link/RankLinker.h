//===- RankLinker.h - in-process linking of rank executables --------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Sets `folder` to the support folder, which holds the files that pcc links
/// rank executables with and copies into bundles. The support folder is
/// `../lib/pcc`, relative to the folder of the file that contains this code:
/// the pcc library, or a tool that is linked with pcc statically. Returns exit
/// code 1 if the object files of the runtime are not in the support folder.
runtime::Status findSupportFolder(std::string &folder);

/// Returns the path of the object file with the runtime and its main(), for the
/// ranks of `target`. `folder` is the support folder.
std::string rankMain(const std::string &folder, const std::string &target);

/// Links `objects` with the runtime for `target` by lld, in this process, and
/// writes the file `output`. The file can be executed and can be loaded as a
/// library: it is a shared object with an interpreter and an entry point.
/// `folder` is the support folder.
///
/// The machine needs the shared libraries that the runtime uses, but neither a
/// compiler nor development files. Returns exit code 13, with the name of the
/// library and its package, if one is not installed, and 1 if lld fails. Equal
/// inputs give equal bytes, whatever path `output` is.
runtime::Status linkRank(const std::string &folder, const std::string &target,
                         const std::vector<std::string> &objects,
                         const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
