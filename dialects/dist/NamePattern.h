//===- NamePattern.h - patterns of value names in requests ----------------===//

#ifndef PCC_DIALECTS_DIST_NAMEPATTERN_H
#define PCC_DIALECTS_DIST_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"

namespace pcc::dist {

/// Returns whether `pattern`, such as the name in an option --shard, is equal
/// to `name` or matches `name` as a glob: `h.*.w` matches `h.3.w`. No pattern
/// matches an empty name.
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_NAMEPATTERN_H
