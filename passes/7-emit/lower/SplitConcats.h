//===- SplitConcats.h - concatenations of many parts in steps -------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
#define PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H

#include "mlir/IR/Block.h"

namespace pcc::emit {

/// Largest number of operands of a concatenation that a kernel computes.
inline constexpr size_t maxConcatParts = 16;

/// Replaces each concatenation in `block` with more than `maxParts` operands by
/// a tree of concatenations with at most `maxParts` operands each. Example for
/// `maxParts` = 2:
///
///   before   concat a, b, c, d, e
///   after    concat (concat (concat a, b), (concat c, d)), e
///
/// The code of a kernel computes one element of a concatenation at a time. For
/// each operand, the code has a branch that checks whether the element comes
/// from this operand. A kernel with many operands would therefore take long to
/// compile.
void splitConcats(mlir::Block &block, size_t maxParts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
