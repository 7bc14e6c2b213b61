//===- ParserMessages.h - errors of MLIR's parser in words of pcc ---------===//

#ifndef PCC_PASSES_DRIVER_PARSERMESSAGES_H
#define PCC_PASSES_DRIVER_PARSERMESSAGES_H

#include "mlir/IR/Location.h"
#include <string>

namespace pcc {

/// Returns the error `message` of MLIR in words of pcc. Names that do not exist
/// get the nearest ones that do, and what the parser did not expect is quoted
/// from `source`, the text of the .mlir file, at `location`. `source` may be
/// empty. Returns a message that pcc itself has written unchanged.
std::string inOurWords(llvm::StringRef message, mlir::Location location,
                       llvm::StringRef source);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_PARSERMESSAGES_H
