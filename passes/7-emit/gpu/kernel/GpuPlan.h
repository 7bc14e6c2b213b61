//===- GpuPlan.h - division of a kernel over GPU blocks and threads -------===//
//
// In a kernel without reductions a thread computes `vector` neighboring
// elements of the results. If an operand is transposed, a block instead
// computes a square tile (TransposeTiles.h).
//
// In a kernel with reductions a *team* of threads shares a row, and a block has
// several teams. Neighboring threads always read neighboring elements. If
// rows are contiguous in memory (along), neighboring threads belong to one
// team. If rows are columns of a tensor (across), neighboring threads belong
// to different teams, whose columns are neighbors:
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

/// Division of the work of one kernel over the blocks and threads of a GPU.
struct GpuPlan {
  /// Loops of a kernel without reductions, or rows of a kernel with reductions.
  KernelPlan loops;
  /// Number of neighboring elements that a thread computes together, so that
  /// one instruction can load or store them. Elements of the narrowest tensor
  /// fill `widestAccess` (16) bytes: 8 elements for bf16, 4 for f32. The number
  /// is halved until it divides `groupSize`.
  int64_t vector = 1;
  /// Number of iterations of the kernel's innermost loop: the product of the
  /// sizes of the dims that this loop covers.
  int64_t groupSize = 1;
  /// Threads of a kernel with reductions. `team` is the number of threads that
  /// share a row; `teams` is the number of such teams in a block. Both numbers
  /// are powers of two.
  int64_t team = 1, teams = 1;
  /// Whether the rows that are reduced are columns of the tensor, strided in
  /// memory. If false, the rows are contiguous.
  bool isAcross = false;
  /// For a kernel that transposes operands through shared memory: the dim of
  /// the results that is contiguous in the transposed operands. Otherwise -1.
  int64_t transposedDim = -1;
  /// `blocks` is the number of blocks of a launch, `threads` the number of
  /// threads of a block. A kernel whose results have no elements has 0 blocks.
  int64_t blocks = 1, threads = 1;

  /// Returns the number of loop iterations (rounds) that a team of threads
  /// needs for one row. In a round each thread computes `vector` neighboring
  /// elements. In the last round some threads may have no elements.
  int64_t rounds() const;
};

/// Returns the division of `kernel` over blocks and threads. It depends on the
/// body and the types of `kernel` only.
GpuPlan gpuPlanOf(rank::KernelOp kernel);

/// Largest number of bytes that a thread can load or store by one instruction.
constexpr int64_t widestAccess = 16;

/// Returns the number of elements of the tiles into which a multi-tensor kernel
/// (`in_parts`) cuts its tensors. A block of 256 threads computes a tile; each
/// thread computes as many elements as it can load at once.
int64_t elementsPerTile(rank::KernelOp kernel);

/// Bytes of shared memory that a block can use without a special launch
/// attribute.
constexpr int64_t sharedBytes = 48 << 10;

/// Number of elements along each side of the square tiles in which operands are
/// transposed.
constexpr int64_t tileSize = 32;

/// Number of elements in shared memory from the start of one row of a
/// transposed tile to the start of the next. One element of padding puts the
/// elements of a column into different memory banks.
constexpr int64_t tilePitch = tileSize + 1;

/// Returns the dim of the result of `op` that is the innermost dim of the
/// operand. Example: 0 for the transpose of a matrix. A kernel then transposes
/// tiles of this dim and of the result's innermost dim. Returns -1 in three
/// cases:
///
///   - The innermost dim of the operand is also that of the result.
///   - One of the two dims is too small for tiles.
///   - The result does not have shape `shape`.
int64_t transposedDimOf(graph::TransposeOp op, llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
