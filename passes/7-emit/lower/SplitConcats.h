//===- SplitConcats.h - concatenations of many parts in steps -------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
#define PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H

#include "mlir/IR/Block.h"

namespace pcc::emit {

/// Largest number of operands of a concatenation that a kernel computes.
inline constexpr size_t maxConcatParts = 16;

/// Replaces each concatenation in `block` with more than `maxParts` operands by
/// a tree of concatenations with at most `maxParts` operands each. The code of
/// a kernel has one branch per operand, so many operands would take long to
/// compile.
void splitConcats(mlir::Block &block, size_t maxParts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
