//===- NamePattern.h - patterns of value names in requests ----------------===//

#ifndef PCC_DIALECTS_DIST_NAMEPATTERN_H
#define PCC_DIALECTS_DIST_NAMEPATTERN_H

#include "llvm/ADT/StringRef.h"

namespace pcc::dist {

/// Returns whether `pattern`, by which a user names values (as in --shard),
/// applies to the value `name`. A pattern may be a glob; a malformed glob
/// applies only to the name that it equals. A pattern that equals the name
/// applies to it even if it has glob characters: `w[0]`. No pattern, not even
/// `*`, applies to an empty name, which is that of a value without a name.
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_NAMEPATTERN_H
