//===- SizeLimit.h - weights that limit sizes of dynamic dims -------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_SIZELIMIT_H
#define PCC_PASSES_1_IMPORT_BUILD_SIZELIMIT_H

#include "mlir/IR/Value.h"
#include "passes/1-import/build/ImportOptions.h"

namespace pcc::onnx_import {

/// Returns the next step after an error about a dim of the size `got` where at
/// most `limit` is possible, such as "; at most --dim seq=64, got --dim
/// seq=128". The text names the --dim or --shape that gives the size `got`.
/// Without one, the text only says how the size may come about.
std::string adviceOnLimit(const ImportOptions &options, int64_t got,
                          int64_t limit);

/// Explains why `operands` do not broadcast, if a weight is too small for the
/// sizes that the user has bound. Two operands differ in a dim, and the smaller
/// one is part of a weight, such as the rows of a table of positions. Example:
/// "; 'wpe.weight' has 64 along dim 0; at most --dim seq=64, got --dim
/// seq=128". Returns an empty string if no weight is the cause.
std::string describeSmallWeight(mlir::ValueRange operands,
                                const ImportOptions &options);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_SIZELIMIT_H
