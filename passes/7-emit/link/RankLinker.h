//===- RankLinker.h - rank executables, linked in process -----------------===//

#ifndef PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
#define PCC_PASSES_7_EMIT_LINK_RANKLINKER_H

#include "runtime/base/Status.h"

#include <string>
#include <vector>

namespace pcc::emit {

/// Where pcc keeps what it links with and copies into bundles: in ../lib/pcc of
/// the folder of its library, or of the tool that has no library. Exit code 1
/// if it is not there.
runtime::Status findSupportFolder(std::string &folder);

/// The runtime with its main(), for ranks of a target.
std::string rankMain(const std::string &folder, const std::string &target);

/// Links objects with the main of `target` to an executable that can be loaded
/// as well: a shared object with an interpreter and an entry point. The machine
/// needs the shared libraries that the runtime uses, no compiler and no
/// development files; exit code 13 names a library that it lacks. `folder` is
/// the support folder. The bytes depend on nothing but the objects.
runtime::Status linkRank(const std::string &folder, const std::string &target,
                         const std::vector<std::string> &objects,
                         const std::string &output);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LINK_RANKLINKER_H
