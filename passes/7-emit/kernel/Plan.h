//===- Plan.h - the loops of a kernel -------------------------------------===//
//
// A kernel without reductions is a loop nest over the shape of its results. A
// kernel with reductions runs over rows: all of them reduce the same dims of
// one shape, and for each point of the other dims the statistics of the row are
// computed first, then what is read from its elements. Where the rows are
// columns of the tensor, neighbouring ones are reduced side by side.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_PLAN_H
#define PCC_PASSES_7_EMIT_KERNEL_PLAN_H

#include "dialects/rank/RankDialect.h"
#include <optional>

namespace pcc::emit {

/// How an op that a kernel may hold finds its operands' elements.
enum class ReadKind : uint8_t {
  None,        ///< a kernel cannot hold the op
  ElementWise, ///< at the same place, broadcast
  Source,      ///< it has no operands
  Layout,      ///< at another place
  Row,         ///< all elements of a row
};

ReadKind readKindOf(mlir::Operation *op);
/// Whether an element of `op` costs tens of instructions.
bool isExpensive(mlir::Operation *op);

/// The dims that a reduction runs over, and the others.
struct RowSpace {
  llvm::SmallVector<int64_t> shape, innerDims, outerDims;
  /// How many neighbouring inner dims share a loop.
  llvm::SmallVector<int64_t> innerGroups;

  llvm::SmallVector<int64_t> innerShape() const;
  llvm::SmallVector<int64_t> outerShape() const;
  int64_t innerSize() const;
  int64_t outerSize() const;
  /// Whether rows lie across memory: neighbours along the last dim are
  /// different rows.
  bool isByColumns() const;

  bool operator==(const RowSpace &) const = default;
};

/// The rows of a reduction, softmax or norm; none for other ops.
std::optional<RowSpace> rowSpaceOf(mlir::Operation *op);

/// Whether `result` has an element per element of `rows`, not one per row.
bool isPerElement(mlir::Value result, const RowSpace &rows);

struct KernelPlan {
  /// Set where the kernel reduces.
  std::optional<RowSpace> rows;
  /// How many columns are reduced side by side; 0: rows one after the other. An
  /// outer iteration is so many.
  int64_t width = 0;
  /// The shape that is walked without reductions, and how many neighbouring
  /// dims share a loop. The first `numParallel` loops are the outer iterations.
  llvm::SmallVector<int64_t> shape, groups;
  int64_t numParallel = 0;
  /// Results have shapes of their own: one iteration makes one after another.
  bool hasOwnShapes = false;
  int64_t extent = 1, grain = 1;
};

KernelPlan planOf(rank::KernelOp kernel);

/// What a kernel takes besides tensors: per dist.global_index, in order, one
/// `#rank.offset` for every factor that is split.
llvm::SmallVector<mlir::Attribute> offsetsOf(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_PLAN_H
