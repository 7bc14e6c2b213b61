//===- ParserMessages.h - errors of MLIR's parser in words of pcc ---------===//

#ifndef PCC_PASSES_DRIVER_PARSERMESSAGES_H
#define PCC_PASSES_DRIVER_PARSERMESSAGES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/OperationSupport.h"
#include "passes/driver/TextFault.h"
#include <optional>
#include <string>

namespace pcc {

/// Returns the claim that `op` has no attribute `key`, with the nearest names
/// of those that it has.
std::string unknownAttribute(mlir::OperationName op, llvm::StringRef key);

/// Returns the first attribute that its op does not have, in an op in MLIR's
/// generic form, such as `"graph.matmul"(%0, %1) <{transpose_rsh}>`: the parser
/// ignores it. Returns nullopt if there is none in `text`, an .mlir file.
std::optional<TextFault> findUnknownProperty(llvm::StringRef text,
                                             mlir::MLIRContext *context);

/// Returns the error `message` of MLIR in words of pcc. Names that do not exist
/// get the nearest ones that do, and what the parser did not expect is quoted
/// from `source`, the text of the .mlir file, at `location`. `source` may be
/// empty. Returns a message that pcc itself has written unchanged.
std::string inOurWords(llvm::StringRef message, mlir::Location location,
                       llvm::StringRef source);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_PARSERMESSAGES_H
