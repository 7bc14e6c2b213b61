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

/// Kind of an op. The kind tells which operand elements one element of the
/// result depends on. Example: element [2, 3] of the result of an addition
/// depends on the operand elements with the same index [2, 3]. An addition
/// therefore has the kind ElementWise.
///
/// The pass `form-kernels` fuses ops into kernels. A kernel is a loop nest that
/// computes several ops, element by element. The kind also tells the pass
/// whether a kernel can contain the op. A row is a set of elements that are
/// reduced together, such as the elements of one sum.
///
///   kind          operand elements               can a kernel contain the op?
///   ElementWise   elements with the same index   yes
///   Source        the op has no operand          yes
///   Layout        elements with other indices    yes
///   Row           all elements of a row          yes, if its loops visit rows
///   None          not one of the kinds above     no, except attention
///
/// Attention ops have the kind None. The pass fuses attention ops into kernels
/// by rules that do not depend on the kind.
enum class ReadKind : uint8_t {
  None,        ///< not one of the kinds below, such as a matmul or attention
  ElementWise, ///< elements with the index of the result element, broadcast
  Source,      ///< no operand: constant, iota, global index
  Layout,      ///< elements with other indices: transpose, gather, pad, ...
  Row,         ///< all elements of a row: reduction, softmax, norm
};

/// Returns the kind of `op`. The kind tells which operand elements one element
/// of the result depends on:
///
///   kind          example     operand elements
///   ElementWise   add         the elements with the same index
///   Source        iota        no elements, since the op has no operand
///   Layout        transpose   an element with another index
///   Row           softmax     all elements along the softmax dim
///   None          matmul      not described by one of the other kinds
///
/// The pass `form-kernels` fuses ops into loop nests, called kernels. A kernel
/// contains no op of the kind None, except attention ops. A constant has the
/// kind Source if all its elements are equal, and the kind None otherwise.
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
/// dims are not (outer dims). The field `innerGroups` of the result tells how
/// many inner dims each loop over the reduced elements covers. The function
/// gives each inner dim a loop of its own, so each entry of `innerGroups` is 1.
/// Example: the sum of an [8, 16, 32] tensor over dims 1 and 2.
///
///   shape         [8, 16, 32]
///   innerDims     [1, 2]
///   outerDims     [0]
///   innerGroups   [1, 1]: a loop over dim 1, and a loop over dim 2
///
/// Returns std::nullopt if `op` is no reduction, arg-reduction, softmax or
/// norm.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Returns whether a kernel that reduces a tensor computes one element of
/// `result` for each element of the tensor. `rows.shape` is the shape of the
/// tensor. The function returns true if two conditions hold:
///
///   - The shape of `result` is equal to `rows.shape`.
///   - The op that computes `result` is no sum, maximum, minimum, product, mean
///     or arg-reduction. These ops compute one element per row. A row is a set
///     of elements that are reduced together.
///
/// Examples for ops that reduce dim 1 of the tensor:
///
///   op        `rows.shape`   shape of `result`   return value
///   softmax   [8, 16]        [8, 16]             true
///   sum       [8, 16]        [8]                 false: the shapes differ
///   sum       [8, 1]         [8, 1]              false: the op is a sum
bool isPerElement(mlir::Value result, const RowSpace &rows);

/// Loop nest of a kernel, divided into units of work. The units are independent
/// of each other, so that threads can execute the units in parallel.
///
/// A row is a set of elements that are reduced together. If the elements of a
/// row are strided in memory, the row is also called a column. Example: the sum
/// of a [500, 64] tensor over dim 0 reduces 64 columns of 500 elements.
///
/// The ops of the kernel determine the unit of work. In a kernel with
/// reductions, the field `width` also matters. `width` is the number of
/// neighboring columns in a unit, or 0 if a unit is one row.
///
///   ops of the kernel            one unit of work
///   attention or its gradient    the whole kernel
///   reductions, `width` is 0     one row
///   reductions, `width` is > 0   `width` neighboring columns
///   only other ops               one iteration of the parallel loops
///
/// The parallel loops are the outermost `numParallel` loops of the kernel.
/// Example: a kernel has loops of 8, 64 and 100 iterations, and `numParallel`
/// is 2. The loops of 8 and 64 iterations are parallel, and give 8 · 64 = 512
/// units. Each unit executes the loop of 100 iterations once.
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

/// Returns the descriptions of the numbers that a kernel needs to compute `op`.
/// The runtime passes these numbers to the kernel as arguments. Each number is
/// described by an attribute `#rank.offset`. Returns an empty list if `op` is
/// not a dist.global_index op.
///
/// A rank holds a part of a tensor, called a shard. The op dist.global_index
/// computes, for each element of the shard, the index of the element in the
/// whole tensor along one dim. The size of the dim can be written as a product
/// of factors, and each factor can be split over ranks. For each split factor,
/// the kernel needs one number: the index along the factor at which the shard
/// of the rank begins.
///
/// Example: a dim has 192 = 3 · 64 elements, and the factors are 3 and 64. An
/// element has the index a along the factor 3 and the index b along the factor
/// 64. The index of the element along the dim is a · 64 + b. Two ranks split
/// the factor 64. The first rank holds the elements with b < 32, and its number
/// is 0. The second rank holds the elements with b ≥ 32, and its number is 32.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
