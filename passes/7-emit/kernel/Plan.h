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

/// Relation between one result element of an op and the operand elements on
/// which it depends. Decides whether a kernel can compute the op, and in which
/// kind of loop.
enum class ReadKind : uint8_t {
  None,        ///< unknown: no kernel can hold the op
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns which operand elements one result element of `op` depends on:
///
///   example of `op`   result        operand elements for one result element
///   add               ElementWise   the elements with the same index
///   iota              Source        no elements
///   transpose         Layout        an element with another index
///   softmax           Row           all elements along the softmax dim
///   matmul            None          unknown
///
/// The pass `form-kernels` fuses ops into generated loop nests, called kernels.
/// `None` means that a kernel cannot contain `op`. A constant is `Source` if
/// all its elements are equal, and `None` otherwise.
ReadKind readKindOf(mlir::Operation *op);
/// Returns whether one result element of `op` costs tens of instructions (exp,
/// erf, pow, random, ...). Fusion does not duplicate expensive ops.
bool isExpensive(mlir::Operation *op);

/// Division of the dims of `shape` into inner dims, which a reduction reduces,
/// and outer dims. A row is the set of elements with equal outer indices.
/// Example: a reduction of [8, 16, 32] over dim 2.
///
///   innerDims   [2]
///   outerDims   [0, 1]
///   rows        8 · 16 = 128 rows of 32 elements
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// Number of neighboring inner (reduced) dims that each loop over a row
  /// covers, outermost loop first. Example: [1, 2] means a loop over the first
  /// of three inner dims, and one loop over the other two.
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
  /// Returns whether each reduction runs over a column, whose elements are
  /// strided in memory. True if the last dim is not reduced and has at least 8
  /// elements. One loop can then reduce several neighboring columns.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// Returns which dims of operand 0 are reduced by `op` (inner dims), and which
/// dims are not (outer dims). Example: the sum of an [8, 16, 32] tensor over
/// dims 1 and 2.
///
///   shape         [8, 16, 32]
///   innerDims     [1, 2]
///   outerDims     [0]
///   innerGroups   [1, 1]: each inner dim has a loop of its own
///
/// Returns std::nullopt if `op` is no reduction, arg-reduction, softmax or
/// norm.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether `result` has the shape of the operand that is reduced, as a
/// softmax has. Returns false if `result` has one element per row (set of
/// elements reduced together), as a sum has.
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel. The nest is divided into units of work. The units are
/// independent of each other, so that threads can execute them in parallel. The
/// ops in the kernel determine the unit of work:
///
///   ops in the kernel                  one unit of work
///   attention or its gradients         the whole kernel
///   reductions, if `width` is 0        one row
///   reductions, if `width` is not 0    `width` neighboring columns
///   all other ops                      one iteration of the outermost loops
///
/// A row is a set of elements that are reduced together. A column is a row
/// whose elements are strided in memory. Example: the sum of a [500, 64] tensor
/// over dim 0 reduces 64 columns of 500 elements.
struct KernelPlan {
  /// Rows (sets of elements reduced together) of the tensor that the kernel
  /// reduces. std::nullopt in a kernel without reductions.
  std::optional<RowSpace> rows;
  /// Number of neighboring columns that one unit of work reduces, at most 64. A
  /// column is a set of elements that are reduced together and are strided in
  /// memory. Example: the sum of a [500, 48] tensor over dim 0 reduces 48
  /// columns of 500 elements, and `width` is 48. `width` is 0 if a unit of work
  /// is not a group of columns.
  int64_t width = 0;
  /// Iteration space `shape` of a kernel without reductions. Each entry of
  /// `groups` is the number of neighboring dims that one loop covers. Example:
  /// shape [8, 4, 6] with groups [1, 2] means a loop of 8 and a loop of 24
  /// iterations.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of outermost loops whose iterations are distributed over threads. 0
  /// in a kernel with reductions.
  int64_t numParallel = 0;
  /// Whether each result has a loop nest of its own, since results can differ
  /// in shape. True for attention and its gradients.
  bool hasOwnShapes = false;
  /// `extent` is the number of outer iterations (units of work). `grain` is the
  /// smallest number of them that is worth a thread.
  int64_t extent = 1, grain = 1;
};

/// Returns the loop nest of `kernel`. It depends only on the body and the types
/// of `kernel`.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns the scalar arguments that a kernel needs to compute `op`. An
/// attribute `#rank.offset` describes each scalar. Returns an empty list unless
/// `op` is a dist.global_index op.
///
/// A rank holds a shard of a tensor. For each element of the shard, the op
/// dist.global_index computes the index of the element in the whole tensor,
/// along one dim. A sharding writes the size of the dim as a product of
/// factors, and can split each factor over ranks. The op needs one scalar for
/// each split factor: the index along the factor at which the rank's shard
/// begins.
///
/// Example: a dim has 192 = 3 · 64 elements. The element with the indices a and
/// b along the two factors has the index a · 64 + b in the dim. The factor 64
/// is split over two ranks. The scalar is 0 on the first rank, which holds the
/// elements with b < 32, and 32 on the second rank.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
