//===- DumpSeal.h - recognizes dumps that nobody has edited ---------------===//

#ifndef PCC_PASSES_DRIVER_DUMPSEAL_H
#define PCC_PASSES_DRIVER_DUMPSEAL_H

#include <string>
#include <string_view>

namespace pcc {

/// Appends the comment line `// pcc: sha256 HASH` to `text`, the text of a
/// module. HASH is the SHA-256 of all text before the line, and reveals later
/// edits. The hash does not protect against forgery, because everyone can
/// compute it.
std::string sealDump(std::string text);

/// Returns whether `text` ends with the line `// pcc: sha256 HASH` of
/// sealDump(), and HASH is the SHA-256 of all text before the line.
bool isSealedDump(std::string_view text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPSEAL_H
