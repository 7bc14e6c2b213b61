//===- Seal.h - a checksum over a whole file ------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_SEAL_H
#define PCC_RUNTIME_PROGRAM_SEAL_H

#include "runtime/base/Status.h"

#include <string>

namespace pcc::runtime {

/// Appends a trailer with the file's xxh3; an ELF executable is not changed by
/// what follows it.
Status sealFile(const std::string &path);

/// Whether the file still has the bytes that were sealed; exit code 11 if any
/// bit differs, or if it was never sealed.
Status checkSeal(const std::string &path);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_SEAL_H
