//===- NamePattern.h - patterns of value names in requests ----------------===//

#ifndef PCC_DIALECTS_DIST_NAMEPATTERN_H
#define PCC_DIALECTS_DIST_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"

namespace pcc::dist {

/// Returns whether `pattern`, such as the name in an option --shard, matches
/// the value name `name`. `pattern` matches if it equals `name`, even if it
/// contains glob characters (`w[0]`). It also matches if it is a valid glob
/// that matches `name`. An empty `name` means that the value has no name. No
/// pattern matches an empty `name`, not even `*`.
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_NAMEPATTERN_H
