//===- GpuPlan.h - division of a kernel over GPU blocks and threads -------===//
//
// In a kernel without reductions a thread computes `vector` neighbouring
// elements of the results. If an operand is transposed, a block instead
// computes a square tile (TransposeTiles.h).
//
// In a kernel with reductions a *team* of threads shares a row, and a block has
// several teams. Neighbouring threads always read neighbouring elements. If
// rows are contiguous in memory (along), neighbouring threads belong to one
// team. If rows are columns of a tensor (across), neighbouring threads belong
// to different teams, whose columns are neighbours:
//
//        along, 2 teams of 4              across, 4 teams of 2
//      row 0: t0 t1 t2 t3 t0 …         rows 0 1 2 3:  t0 t1 t2 t3
//      row 1: t4 t5 t6 t7 t4 …                        t4 t5 t6 t7
//                                                     t0 …
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Plan.h"

namespace pcc::emit {

/// Division of one kernel over blocks and threads.
struct GpuPlan {
  /// Loop nest or row space of the kernel.
  KernelPlan loops;
  /// Number of neighbouring elements that a thread computes at once, a divisor
  /// of `groupSize`. If possible, `vector` elements of the narrowest operand or
  /// result have `widestAccess` bytes.
  int64_t vector = 1;
  /// Number of elements of the dims that the innermost loop covers.
  int64_t groupSize = 1;
  /// In a kernel with reductions: number of threads of a team, and of teams of
  /// a block. Both are powers of two.
  int64_t team = 1, teams = 1;
  /// Whether rows are columns, strided in memory.
  bool isAcross = false;
  /// In a kernel that transposes through shared memory: the dim of the results
  /// along which transposed operands are contiguous. Otherwise -1.
  int64_t transposedDim = -1;
  /// Number of blocks of a launch, and of threads of a block. There are no
  /// blocks if the results have no elements.
  int64_t blocks = 1, threads = 1;

  /// Returns the number of rounds in which a team computes a row. In each round
  /// a thread computes `vector` neighbouring elements. In the last round some
  /// threads may have none.
  int64_t rounds() const;
};

/// Returns the plan of `kernel`, which depends on the body and the types of the
/// kernel only.
GpuPlan gpuPlanOf(rank::KernelOp kernel);

/// Number of bytes of the widest load or store of a thread.
constexpr int64_t widestAccess = 16;

/// Returns the number of elements of a tile of an `in_parts` kernel: each
/// thread of a block computes as many neighbouring elements as the widest
/// access has.
int64_t elementsPerTile(rank::KernelOp kernel);

/// Bytes of shared memory of a block, without opting in to more.
constexpr int64_t sharedBytes = 48 << 10;

/// Number of elements along a side of a square tile that is transposed.
constexpr int64_t tileSize = 32;

/// Number of elements in shared memory from one row of such a tile to the next.
/// One element of padding puts the elements of a column into different banks.
constexpr int64_t tilePitch = tileSize + 1;

/// Returns the dim of the result of `op` that is the innermost dim of its
/// operand. Returns -1 if the result and the operand have the same innermost
/// dim, if either innermost dim is too small for tiles, or if the result does
/// not have shape `shape`.
int64_t transposedDimOf(graph::TransposeOp op, llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
