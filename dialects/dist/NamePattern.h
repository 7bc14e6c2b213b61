//===- NamePattern.h - patterns of value names in requests ----------------===//

#ifndef PCC_DIALECTS_DIST_NAMEPATTERN_H
#define PCC_DIALECTS_DIST_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"

namespace pcc::dist {

/// Returns whether `pattern` matches `name`, the name of a value. A pattern is,
/// for example, the name in an option --shard.
///
///   pattern  name       result
///   w[0]     w[0]       true, because both are equal
///   h.*.w    h.3.w      true, because the pattern is a glob
///   *        (no name)  false, as for every pattern
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_NAMEPATTERN_H
