//===- WriteFile.h - writes one output file of a command ------------------===//

#ifndef PCC_PASSES_DRIVER_WRITEFILE_H
#define PCC_PASSES_DRIVER_WRITEFILE_H

#include "status/Status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace pcc {

/// Writes the text that `print` prints to the file at `path`. A regular file,
/// or the file that a symbolic link leads to, is replaced as a whole: it has
/// either its previous content or all of the text. A device or a pipe is
/// written to. Returns exit code 7 if the file cannot be opened or written.
Status writeFile(const std::string &path,
                 llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_WRITEFILE_H
