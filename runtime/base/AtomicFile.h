//===- AtomicFile.h - a file that is whole or absent ----------------------===//

#ifndef PCC_RUNTIME_BASE_ATOMICFILE_H
#define PCC_RUNTIME_BASE_ATOMICFILE_H

#include "runtime/base/Status.h"

#include <string>

namespace pcc::runtime {

/// Writes a file under another name first: `path` is `text` in the end, or what
/// it was before (exit code 7).
Status writeFileAtomically(const std::string &path, const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_ATOMICFILE_H
