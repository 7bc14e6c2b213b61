//===- DumpSeal.h - recognizes dumps that nobody has edited ---------------===//

#ifndef PCC_PASSES_DRIVER_DUMPSEAL_H
#define PCC_PASSES_DRIVER_DUMPSEAL_H

#include <string>
#include <string_view>

namespace pcc {

/// Appends a comment line to `text` and returns the result. `text` is the text
/// of a module. pcc writes the result to a file. The comment line is:
///
///     // pcc: sha256 HASH
///
/// HASH is the SHA-256 of all text before the comment line, in 64 hexadecimal
/// digits. If `text` does not end with a newline, a newline is added first.
///
/// isSealedDump() computes the hash again when pcc reads the file. A different
/// hash shows that the file was edited. The comment line does not protect
/// against forgery, because everyone can compute the hash.
std::string sealDump(std::string text);

/// Returns whether `text` is unchanged since sealDump() has returned it.
/// sealDump() adds this comment line at the end of a text:
///
///     // pcc: sha256 HASH
///
/// The result is true if `text` ends with such a line, and if HASH is the
/// SHA-256 of all text before the line. Otherwise, the result is false.
bool isSealedDump(std::string_view text);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_DUMPSEAL_H
