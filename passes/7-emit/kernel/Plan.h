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

/// Which operand elements an op needs to compute one element of its result.
/// Whether and how a kernel can hold an op depends on this kind.
enum class ReadKind : uint8_t {
  None,        ///< unknown: no kernel can hold the op
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns how `op` reads its operands. Returns `None` if no kernel can hold
/// `op`, such as a matmul or a constant whose elements are not all equal.
ReadKind readKindOf(mlir::Operation *op);
/// Returns whether one element of the result of `op` costs tens of
/// instructions (exp, erf, pow, random, ...). Fusion avoids repeating such ops.
bool isExpensive(mlir::Operation *op);

/// Division of the dims of `shape` into inner dims, over which a reduction
/// runs, and outer dims. Both lists ascend, and each dim is in exactly one of
/// them. A row is the set of elements that share their outer indices.
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// For each loop over the elements of a row, outermost first: the number of
  /// neighbouring inner dims that the loop covers. The sum is the number of
  /// inner dims.
  llvm::SmallVector<int64_t> innerGroups;

  /// Returns the sizes of the inner dims, which the reduction runs over.
  llvm::SmallVector<int64_t> innerShape() const;
  /// Returns the sizes of the outer dims, which the reduction keeps.
  llvm::SmallVector<int64_t> outerShape() const;
  /// Returns the number of elements of a row: the product of the inner dims.
  int64_t innerSize() const;
  /// Returns the number of rows: the product of the outer dims.
  int64_t outerSize() const;
  /// Returns whether the rows are columns of the tensor, with elements that are
  /// strided in memory, and it is worth reducing several of them side by side.
  /// True if the last dim is an outer dim and has at least 8 elements.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// Returns the rows that `op` reduces if it is a reduction, an arg-reduction, a
/// softmax or a norm. Returns std::nullopt for other ops. In the result each
/// inner dim has a loop of its own.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether `result`, a value of a kernel over `rows`, has one element
/// per element of the rows, such as a softmax. False if `result` has one
/// element per row, such as a sum.
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel, divided into outer iterations: independent units of
/// work, of which the runtime gives each thread a range. A plan has one of
/// three forms:
///
///   `hasOwnShapes`   one outer iteration computes all results one by one
///   `rows`           an outer iteration is a row, or `width` columns
///   neither          outer iterations are those of the outermost loops
struct KernelPlan {
  /// Rows (sets of elements that are reduced to one) of the kernel's
  /// reductions; std::nullopt in a kernel without reductions.
  std::optional<RowSpace> rows;
  /// Number of neighbouring columns that one outer iteration reduces side by
  /// side. 0 if an outer iteration is one row.
  int64_t width = 0;
  /// Only in a kernel without reductions: `shape` is its iteration space, and
  /// `groups` lists, for each loop from the outermost on, how many neighbouring
  /// dims of `shape` the loop covers.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of loops, from the outermost on, whose iterations are distributed
  /// over threads. The other loops run within each outer iteration.
  int64_t numParallel = 0;
  /// Whether no common loop can compute the results, since their shapes are
  /// unrelated: true for attention and its gradients.
  bool hasOwnShapes = false;
  /// `extent` is the number of outer iterations. `grain` is the smallest number
  /// of outer iterations that is worth giving to a thread.
  int64_t extent = 1, grain = 1;
};

/// Returns the plan of `kernel`. It depends on the body and the types of
/// `kernel` only.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns descriptions (`#rank.offset`) of the scalars that a kernel takes as
/// arguments for `op`. The dim of a dist.global_index op is a product of
/// factors. The op has one scalar for each factor that is split over ranks, in
/// the order of the factors. Other ops have none. At run time each scalar is an
/// i64: the index, along the factor, at which the rank's part begins.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
