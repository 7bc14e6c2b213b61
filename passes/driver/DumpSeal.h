//===- DumpSeal.h - recognizes dumps that nobody has edited ---------------===//

#ifndef PCC_PASSES_DRIVER_DUMPSEAL_H
#define PCC_PASSES_DRIVER_DUMPSEAL_H

#include <string>
#include <string_view>

namespace pcc {

/// Returns `text`, the text of a module, followed by a comment with its
/// SHA-256:
///
///     // pcc: sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15
///
/// The comment shows later whether a dump was edited. It does not protect
/// against forgery.
std::string sealDump(std::string text);

/// Returns whether `text` still ends with the comment that sealDump() has
/// appended.
bool isSealedDump(std::string_view text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPSEAL_H
