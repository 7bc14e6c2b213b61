//===- DumpSeal.h - recognizes dumps that nobody has edited ---------------===//

#ifndef PCC_PASSES_DRIVER_DUMPSEAL_H
#define PCC_PASSES_DRIVER_DUMPSEAL_H

#include <string>
#include <string_view>

namespace pcc {

/// Returns `text`, the text of a module, with a comment as last line that holds
/// the SHA-256 of all text before it:
///
///     // pcc: sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15
///
/// The comment tells a dump as pcc wrote it from one that was edited: what
/// fails on the first is a defect of pcc, what fails on the second may be a
/// mistake of the edit. It is no protection against forgery.
std::string sealDump(std::string text);

/// Returns whether sealDump() has returned this text.
bool isSealedDump(std::string_view text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPSEAL_H
