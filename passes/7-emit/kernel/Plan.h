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
// Several neighboring columns are reduced side by side, so that reads are
// contiguous.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_PLAN_H
#define PCC_PASSES_7_EMIT_KERNEL_PLAN_H

#include "dialects/rank/RankDialect.h"
#include <optional>

namespace pcc::emit {

/// Kind of an op. It tells on which operand elements one element of the result
/// depends. Ops of the kind Row are fused only into kernels that loop over rows
/// (elements reduced together). Ops of the kind None are not fused, except
/// attention.
enum class ReadKind : uint8_t {
  None,        ///< not one of the kinds below, such as a matmul or attention
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns the kind of `op`, which tells on which operand elements one element
/// of the result depends. A constant has the kind Source if all its elements
/// are equal, and the kind None otherwise.
ReadKind readKindOf(mlir::Operation *op);
/// Returns whether one result element of `op` costs tens of instructions (exp,
/// erf, pow, random, ...). Fusion does not duplicate expensive ops.
bool isExpensive(mlir::Operation *op);

/// Dims of the tensor that a kernel reduces: inner dims are reduced, outer dims
/// are not. A row is the set of elements with equal outer indices. A reduction
/// of [8, 16, 32] over dim 2 has 8 · 16 rows of 32 elements.
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// Numbers of neighboring inner (reduced) dims that the loops over one row
  /// cover, outermost loop first. Example: inner dims of the sizes 2, 4 and 8
  /// with [1, 2] give a loop of 2 iterations around a loop of 4 · 8.
  llvm::SmallVector<int64_t> innerGroups;

  /// Returns the sizes of the inner (reduced) dims: [32] for a reduction of [8,
  /// 16, 32] over dim 2.
  llvm::SmallVector<int64_t> innerShape() const;
  /// Returns the sizes of the outer dims, which are not reduced: [8, 16] for a
  /// reduction of [8, 16, 32] over dim 2.
  llvm::SmallVector<int64_t> outerShape() const;
  /// Returns the number of elements of a row, which are reduced together: 32
  /// for a reduction of [8, 16, 32] over dim 2.
  int64_t innerSize() const;
  /// Returns the number of rows (sets of elements that are reduced together): 8
  /// · 16 = 128 for a reduction of [8, 16, 32] over dim 2.
  int64_t outerSize() const;
  /// Returns whether the last dim of the tensor is not reduced and has at least
  /// 8 elements (one vector register). Vector instructions can then reduce
  /// several neighboring columns at once, such as in the sum of a [500, 64]
  /// tensor over dim 0.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// Returns which dims of operand 0 are reduced by `op` (inner dims), and which
/// dims are not (outer dims). Returns std::nullopt if `op` is no reduction,
/// arg-reduction, softmax or norm. Each inner dim gets a loop of its own, so
/// all entries of `innerGroups` are 1. Example: for the sum of an [8, 16, 32]
/// tensor over dims 1 and 2, `innerDims` is [1, 2], `outerDims` is [0], and
/// `innerGroups` is [1, 1].
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether a kernel computes one element of `result` for each element
/// of the reduced tensor, as in a softmax. Otherwise the kernel computes one
/// per row (elements reduced together). Always false for a plain reduction,
/// even if the shapes are equal, as in the sum of [8, 1] over dim 1 to [8, 1].
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel, divided into independent units of work for threads:
///
///   ops of the kernel            one unit of work
///   attention or its gradient    the whole kernel
///   reductions, `width` is 0     one row (elements reduced together)
///   reductions, `width` is > 0   `width` neighboring columns (strided rows)
///   only other ops               one iteration of the `numParallel` loops
struct KernelPlan {
  /// Rows (sets of elements reduced together) of the tensor that the kernel
  /// reduces. std::nullopt in a kernel without reductions.
  std::optional<RowSpace> rows;
  /// Number of neighboring columns that one unit of work reduces, at most 64. A
  /// column is a set of elements that are reduced together and are not
  /// neighbors in memory. The sum of a [500, 100] tensor over dim 0 has 100
  /// columns, and two units of work with 64 and 36 columns. 0 if a unit of work
  /// is not a group of columns.
  int64_t width = 0;
  /// Shape of the results of a kernel without reductions, and the number of
  /// neighboring dims that each loop covers, outermost loop first. Example:
  /// shape [8, 4, 6] and groups [1, 2] give a loop of 8 iterations around a
  /// loop of 4 · 6.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of outermost loops whose iterations threads execute in parallel. 0
  /// for a kernel with reductions or attention.
  int64_t numParallel = 0;
  /// Whether the kernel has a separate loop nest for each result. True if the
  /// kernel contains attention or the gradient of attention. The results of
  /// this kernel can have different shapes, so one loop nest for all results is
  /// not possible. Example: the gradient of the queries has the shape [8, 64],
  /// and the gradient of the keys has the shape [32, 64].
  bool hasOwnShapes = false;
  /// `extent` is the number of units of work, which threads can execute in
  /// parallel. If several threads run the kernel, each thread gets at least
  /// `grain` units. With fewer units per thread, starting another thread would
  /// cost more time than it saves.
  int64_t extent = 1, grain = 1;
};

/// Returns the loop nest of `kernel`. It depends only on the body and the types
/// of `kernel`.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns one attribute `#rank.offset` for each number that a kernel needs as
/// an argument to compute `op`. Only dist.global_index ops need numbers. The
/// sharding divides the dim of the op into factors. Each factor that mesh axes
/// split needs one number: the index in this factor at which the rank's shard
/// starts. Example: the dim has 192 = 3 · 64 elements, and tp splits the factor
/// 64. The op needs one number.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
