//===- SplitConcats.h - concatenations of many parts in steps -------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
#define PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H

#include "mlir/IR/Block.h"

namespace pcc::emit {

/// Largest number of operands of a concatenation that a kernel computes.
inline constexpr size_t maxConcatParts = 16;

/// Replaces each concatenation in `block` that has more than `maxParts`
/// operands by concatenations of at most `maxParts` operands each, which
/// concatenate runs of neighbouring parts, and one of their results. Kernels
/// find the part of an element by comparing its index with the end of one part
/// after another, so the code of a kernel, and the time to compile it, would
/// grow with the number of parts.
///
///   concat a, b, c, d, e   with maxParts = 2 becomes
///   concat (concat (concat a, b), (concat c, d)), e
void splitConcats(mlir::Block &block, size_t maxParts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_SPLITCONCATS_H
