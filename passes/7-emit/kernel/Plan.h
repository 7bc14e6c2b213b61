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

/// Operand elements on which one element of an op's result depends. Example:
/// element [2, 3] of the result of an addition depends on the operand elements
/// [2, 3], so an addition is ElementWise.
///
/// The pass `form-kernels` fuses ops into kernels, which are loop nests. A row
/// is a set of elements that are reduced together. Ops of the kind Row are
/// fused only into kernels that iterate over rows. Ops of the kind None are not
/// fused, except attention.
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

/// Division of the dims of `shape` into inner dims, which a reduction reduces,
/// and outer dims. A row is the set of elements with equal outer indices.
/// Example: a reduction of [8, 16, 32] over dim 2.
///
///   innerDims   [2]
///   outerDims   [0, 1]
///   rows        8 · 16 = 128 rows of 32 elements
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// Number of inner (reduced) dims that each loop covers. A row is the set of
  /// elements that are reduced together. Nested loops visit the elements of one
  /// row. Entry 0 belongs to the outermost of these loops. A loop over two
  /// neighboring dims visits all pairs of their indices.
  ///
  /// Example: the inner dims have the sizes 2, 4 and 8. The list [1, 2] then
  /// means two loops. The outer loop covers the first inner dim, and has 2
  /// iterations. The inner loop covers the other two inner dims, and has 4 · 8
  /// = 32 iterations.
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
  /// Returns whether the reduced elements form columns. A column is a set of
  /// elements that are reduced together and are strided in memory. Example: the
  /// sum of a [500, 64] tensor over dim 0 reduces 64 columns of 500 elements.
  /// Neighboring columns have neighboring elements in memory, so vector
  /// instructions can process several columns at once.
  ///
  /// The function returns true if the last dim is not reduced and has at least
  /// 8 elements. 8 elements fill a vector register.
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

/// Returns whether a kernel that reduces a tensor of shape `rows.shape`
/// computes one element of `result` for each element of the tensor, instead of
/// one for each row (set of elements reduced together). Examples of ops that
/// reduce dim 1:
///
///   op        `rows.shape`   shape of `result`   return value
///   softmax   [8, 16]        [8, 16]             true
///   sum       [8, 16]        [8]                 false: the shapes differ
///   sum       [8, 1]         [8, 1]              false: the op is a sum
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel, divided into units of work that threads can execute
/// in parallel. A row is a set of elements that are reduced together. A column
/// is a row whose elements are strided in memory. The parallel loops are the
/// outermost `numParallel` loops.
///
///   ops of the kernel            one unit of work
///   attention or its gradient    the whole kernel
///   reductions, `width` is 0     one row
///   reductions, `width` is > 0   `width` neighboring columns
///   only other ops               one iteration of the parallel loops
struct KernelPlan {
  /// Rows (sets of elements reduced together) of the tensor that the kernel
  /// reduces. std::nullopt in a kernel without reductions.
  std::optional<RowSpace> rows;
  /// Number of neighboring columns that one unit of work reduces. A column is a
  /// set of elements that are reduced together and are strided in memory. A
  /// unit of work is a part of the kernel. The units are independent of each
  /// other, so that threads can execute the units in parallel.
  ///
  /// `width` is at most 64. Examples for the sum of a tensor over dim 0:
  ///
  ///   tensor       columns   `width`   units of work
  ///   [500, 48]    48        48        1: columns 0 to 47
  ///   [500, 100]   100       64        2: columns 0 to 63, columns 64 to 99
  ///
  /// `width` is 0 if a unit of work is not a group of columns.
  int64_t width = 0;
  /// `shape` is the shape of the results of a kernel without reductions. The
  /// kernel visits each element of this shape in nested loops.
  ///
  /// `groups` tells how many dims each loop covers, outermost loop first. The
  /// loops cover neighboring dims. Example: the shape [8, 4, 6] and the groups
  /// [1, 2] mean two loops. The outer loop covers the first dim, and has 8
  /// iterations. The inner loop covers the other two dims, and has 4 · 6 = 24
  /// iterations.
  llvm::SmallVector<int64_t> shape, groups;
  /// Number of outermost loops whose iterations threads execute in parallel.
  /// Example: a kernel has loops of 8, 64 and 100 iterations, and `numParallel`
  /// is 2. The threads share 8 · 64 = 512 iterations. One iteration contains
  /// the loop of 100 iterations.
  ///
  /// The number is used only for a kernel without reductions and without
  /// attention. It is 0 for all other kernels. In a kernel with reductions, the
  /// threads share rows or columns of elements.
  int64_t numParallel = 0;
  /// Whether the kernel has a separate loop nest for each result. True if the
  /// kernel contains attention or the gradient of attention. The results of
  /// this kernel can have different shapes, so one loop nest for all results is
  /// not possible. Example: the gradient of the queries has the shape [8, 64],
  /// and the gradient of the keys has the shape [32, 64].
  bool hasOwnShapes = false;
  /// `extent` is the number of units of work. A unit of work is a part of the
  /// kernel. The units are independent of each other, so that threads can
  /// execute the units in parallel.
  ///
  /// `grain` limits the number of threads. If two or more threads execute the
  /// kernel, each thread executes at least `grain` units. A thread
  /// needs some time to give work to another thread. With fewer than `grain`
  /// units per thread, more threads would not make the kernel faster.
  ///
  /// Example: `extent` is 512, and `grain` is 163. The kernel runs on at most 3
  /// threads, since 3 · 163 = 489 ≤ 512, but 4 · 163 = 652 > 512.
  int64_t extent = 1, grain = 1;
};

/// Returns the loop nest of `kernel`. It depends only on the body and the types
/// of `kernel`.
KernelPlan planOf(rank::KernelOp kernel);

/// Returns one attribute `#rank.offset` for each number that a kernel needs as
/// an argument to compute `op`. Returns an empty list unless `op` is a
/// dist.global_index op. This op computes the index, along one dim of the whole
/// tensor, of each element of the rank's shard. The size of the dim can be a
/// product of factors, such as 192 = 3 · 64, and each factor can be split over
/// ranks. Each split factor needs one number: the index along the factor at
/// which the shard begins. Example: two ranks split the factor 64. The number
/// is 0 on the first rank and 32 on the second rank.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
