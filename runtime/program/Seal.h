//===- Seal.h - checksum trailers of whole files --------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SEAL_H
#define PCC_RUNTIME_PROGRAM_SEAL_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Appends a trailer with the size and the 128-bit xxh3 hash of the file at
/// `path`. An ELF executable with a trailer still runs. Returns an error with
/// exit code 7 if the file cannot be written.
Status sealFile(const std::string &path);

/// Checks the trailer of the file at `path`. A trailer is a record at the end
/// of a file, which the function sealFile() has appended. The record contains
/// the size and the hash of all bytes before the record. Returns an error in
/// these cases:
///
/// - exit code 11: there is no regular file at `path`, the file has no trailer,
///   the size or the hash in the trailer is wrong, or another process changes
///   the file during the check
/// - exit code 7: the system cannot read the file
Status checkSeal(const std::string &path);

/// Returns the JSON object `json` with a last member `seal`, the hash of the
/// text before it:
///
///     {"world":4,"mesh":{"tp":4}}   becomes
///     {"world":4,"mesh":{"tp":4},"seal":"9a3c…"}
std::string sealJson(std::string json);

/// Returns the seal in `sealed`, the result of sealJson(): 32 hexadecimal
/// digits.
std::string sealOf(const std::string &sealed);

/// Returns success if `bundle` is the path of a directory. Returns an error
/// with exit code 11 if nothing exists at this path, or if there is a file. A
/// note of the error says how to make a bundle.
Status checkPresent(const std::string &bundle);

/// Reads the file at `path`, which sealJson() has made, into `text`. Returns an
/// error with exit code 11 if there is no such regular file, or if its seal
/// (checksum) is wrong; 7 if the system refuses access.
Status readSealedJson(const std::string &path, std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SEAL_H
