//===- WriteFile.h - writes one output file of a command ------------------===//

#ifndef PCC_PASSES_DRIVER_WRITEFILE_H
#define PCC_PASSES_DRIVER_WRITEFILE_H

#include "status/Status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace pcc {

/// Writes the text that `print` prints to the file at `path`:
///  - A regular file is replaced atomically: readers see the old or the new
///    content.
///  - For a symbolic link, the target of the link is replaced.
///  - A device or pipe receives the text.
///  - "-" is stdout.
/// Returns exit code 7 if the file cannot be opened or written.
Status writeFile(const std::string &path,
                 llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_WRITEFILE_H
