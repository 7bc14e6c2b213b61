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

/// Relation between one result element of an op and the operand elements that
/// it depends on. It determines whether and how a kernel can contain the op.
enum class ReadKind : uint8_t {
  None,        ///< unknown: no kernel can hold the op
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns how `op` reads its operands. Returns `None` if no kernel can contain
/// `op`, such as a matmul or a constant whose elements are not all equal.
ReadKind readKindOf(mlir::Operation *op);
/// Returns whether one element of the result of `op` costs tens of instructions
/// (exp, erf, pow, random, ...). Fusion does not duplicate such ops.
bool isExpensive(mlir::Operation *op);

/// Division of the dims of `shape` into inner dims, over which a reduction
/// runs, and outer dims. Both lists ascend, and each dim is in exactly one
/// list. A row is the set of elements that have equal outer indices. Example: a
/// reduction of [8, 16, 32] over dim 2 has inner dim 2, outer dims 0 and 1, and
/// 128 rows of 32 elements.
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// Loops over the elements of a row, outermost first. Each entry is the
  /// number of neighbouring inner dims that one loop covers. Example: [1, 2]
  /// for three inner dims means a loop over the first dim, and one loop over
  /// the other two. The sum of the entries is the number of inner dims.
  llvm::SmallVector<int64_t> innerGroups;

  /// Returns the sizes of the inner dims, which the reduction runs over.
  llvm::SmallVector<int64_t> innerShape() const;
  /// Returns the sizes of the outer dims, which the reduction keeps.
  llvm::SmallVector<int64_t> outerShape() const;
  /// Returns the number of elements of a row: the product of the inner dims.
  int64_t innerSize() const;
  /// Returns the number of rows: the product of the outer dims.
  int64_t outerSize() const;
  /// Returns whether the kernel should reduce several rows side by side. True
  /// if the last dim is an outer dim (not reduced) and has at least 8 elements.
  /// The rows are then columns of the tensor: the elements of one row are
  /// strided in memory, but elements of neighbouring rows are contiguous.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// Returns the division into inner and outer dims by which `op` reduces, if
/// `op` is a reduction, an arg-reduction, a softmax or a norm. Returns
/// std::nullopt for other ops. In the returned RowSpace, each inner dim has a
/// loop of its own.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether `result` has one element for each element of `rows`, the
/// rows that its kernel reduces, such as the result of a softmax. False if
/// `result` has one element per row, such as a sum.
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel. The runtime distributes its outer iterations, which
/// are independent units of work, over threads. The members that are set tell
/// what an outer iteration is:
///
///   `hasOwnShapes`   the whole kernel, one result after another
///   `rows`           one row of a reduction, or `width` columns
///   neither          one iteration of the outermost loops
struct KernelPlan {
  /// Rows (sets of elements that are reduced to one element) of the kernel's
  /// reductions; std::nullopt in a kernel without reductions.
  std::optional<RowSpace> rows;
  /// Number of neighbouring columns that one outer iteration (unit of work)
  /// reduces side by side. 0 if an outer iteration is one row.
  int64_t width = 0;
  /// Loops of a kernel without reductions; empty in other kernels. `shape` is
  /// the iteration space. Each entry of `groups` is the number of neighbouring
  /// dims of `shape` that one loop covers, outermost loop first. Example: shape
  /// [8, 4, 6] with groups [1, 2] means a loop of 8 and a loop of 24
  /// iterations.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of loops, from the outermost on, whose iterations are distributed
  /// over threads. The inner loops run within each of these iterations. 0 in a
  /// kernel with reductions.
  int64_t numParallel = 0;
  /// Whether the kernel has a loop nest of its own for each result, since the
  /// shapes of the results are unrelated. True for attention and its gradients.
  /// If false, all results are computed in one loop nest.
  bool hasOwnShapes = false;
  /// `extent` is the number of outer iterations (independent units of work).
  /// `grain` is the smallest number of outer iterations that is worth a thread.
  int64_t extent = 1, grain = 1;
};

/// Returns the plan of `kernel`. The plan depends only on the body and the
/// types of `kernel`.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns descriptions (`#rank.offset`) of the scalar arguments that a kernel
/// needs to compute `op`. Only a dist.global_index op, which computes indices
/// along a dim, needs scalars.
///
/// The dim is a product of factors. Each factor that is split over ranks has
/// one scalar: the index, along the factor, at which the rank's shard begins.
/// Example: a dim 192 = 3 · 64 whose factor 64 is split over 2 ranks has one
/// scalar: 0 on the first rank, 32 on the second.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
