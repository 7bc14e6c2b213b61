//===- Plan.h - loop nest and row space of a kernel -----------------------===//
//
// A kernel without reductions is a loop nest over the shape of its results.
//
// A kernel with reductions iterates over rows. All its reductions run over the
// same dims of one shape, the inner dims; the other dims are the outer dims. A
// row is the set of elements that share their outer indices. For each row the
// kernel first computes statistics (a sum, a maximum, ...), then the results
// that depend on them:
//
//   reduction of [8, 16, 32] over dim 2   128 rows of 32 contiguous elements
//   reduction of [64, 32] over dim 0      32 rows of 64 elements: the columns
//                                         of the matrix, strided in memory
//
// Several neighbouring columns are reduced side by side, so that reads are
// contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_PLAN_H
#define PCC_PASSES_7_EMIT_KERNEL_PLAN_H

#include "dialects/rank/RankDialect.h"
#include <optional>

namespace pcc::emit {

/// Operand elements from which an op computes one element of its result. The
/// kind decides whether and how a kernel can hold the op.
enum class ReadKind : uint8_t {
  None,        ///< unknown: no kernel can hold the op
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns the kind of `op`. Returns `None` for an op without an entry in the
/// table of kinds and for a constant whose elements differ.
ReadKind readKindOf(mlir::Operation *op);
/// Returns whether one element of the result of `op` costs tens of
/// instructions (exp, erf, pow, random, ...). Fusion avoids repeating such ops.
bool isExpensive(mlir::Operation *op);

/// Division of the dims of `shape` into inner dims, which a reduction runs
/// over, and outer dims. Both lists ascend; each dim is in exactly one list.
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// For each loop over a row, outermost first: the number of neighbouring
  /// inner dims that the loop covers. The numbers add up to the number of inner
  /// dims.
  llvm::SmallVector<int64_t> innerGroups;

  /// Returns the sizes of the inner dims.
  llvm::SmallVector<int64_t> innerShape() const;
  /// Returns the sizes of the outer dims.
  llvm::SmallVector<int64_t> outerShape() const;
  /// Returns the number of elements of a row.
  int64_t innerSize() const;
  /// Returns the number of rows.
  int64_t outerSize() const;
  /// Returns whether the rows are columns of the tensor that are worth reducing
  /// side by side: the last dim is an outer dim of at least 8 elements.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// Returns the rows of `op` if `op` is a reduction, an arg-reduction, a softmax
/// or a norm; otherwise std::nullopt. Each inner dim has a loop of its own.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether `result`, a value of a kernel over `rows`, has one element
/// per element of `rows`. Otherwise `result` has one element per row.
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel and its division into independent outer iterations,
/// of which the runtime gives ranges to threads. A plan has one of three forms:
///
///   hasOwnShapes   one outer iteration computes all results one by one
///   rows           an outer iteration is a row, or `width` columns
///   neither        outer iterations are those of the outermost loops
struct KernelPlan {
  /// Rows of the kernel's reductions; std::nullopt in a kernel without
  /// reductions.
  std::optional<RowSpace> rows;
  /// Number of neighbouring columns that an outer iteration reduces side by
  /// side. 0 if an outer iteration is one row.
  int64_t width = 0;
  /// Iteration space of a kernel without reductions, and for each loop over it,
  /// outermost first, the number of neighbouring dims that the loop covers.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of outermost loops over `shape` that make the outer iterations. The
  /// other loops run inside of each outer iteration.
  int64_t numParallel = 0;
  /// Whether the results have unrelated shapes, so that no loop can compute
  /// them together (attention and its gradients).
  bool hasOwnShapes = false;
  /// Number of outer iterations, and the smallest number of them that is worth
  /// a thread.
  int64_t extent = 1, grain = 1;
};

/// Returns the plan of `kernel`. The plan depends on the kernel's body and
/// types only.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns the `#rank.offset` attributes of the scalars that a kernel takes for
/// `op`. A dist.global_index has one per split factor, major first; any other
/// op has none. At run time each scalar is an i64: the index at which the
/// rank's part of the factor begins.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
