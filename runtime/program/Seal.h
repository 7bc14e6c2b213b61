//===- Seal.h - checksum trailers of whole files --------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SEAL_H
#define PCC_RUNTIME_PROGRAM_SEAL_H

#include "status/Status.h"

#include <string>

namespace pcc::runtime {

/// Appends a trailer with the size and the 128-bit xxh3 hash of the file at
/// `path`. An ELF executable still runs, because the loader ignores bytes
/// behind its segments. Returns exit code 7 if the file cannot be written.
Status sealFile(const std::string &path);

/// Checks that the file at `path` ends with a trailer that matches its content.
/// Returns exit code 11 if any bit differs or if the file has no trailer, 7 if
/// it cannot be read.
Status checkSeal(const std::string &path);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SEAL_H
