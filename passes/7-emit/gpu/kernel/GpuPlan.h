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
  /// Loops of the kernel: over the elements of the results or, in a kernel with
  /// reductions, over the rows that it reduces.
  KernelPlan loops;
  /// Number of neighboring elements that a thread loads by one instruction: 16
  /// bytes of the narrowest tensor, such as 8 elements of bf16 or 4 of f32.
  /// This number is halved until it divides `groupSize`.
  int64_t vector = 1;
  /// Number of iterations of the kernel's innermost loop.
  int64_t groupSize = 1;
  /// Division of a block's threads in a kernel with reductions, in powers of
  /// two:
  ///
  ///   team    number of threads that reduce a row together
  ///   teams   number of teams in a block; each team has its own row
  int64_t team = 1, teams = 1;
  /// Whether the kernel reduces columns of a tensor, which are strided in
  /// memory. If false, it reduces contiguous elements.
  bool isAcross = false;
  /// Dim of the results that is the innermost dim before the transpose, in a
  /// kernel that transposes operands through shared memory. Example: 0 for a
  /// matrix. -1 in all other kernels.
  int64_t transposedDim = -1;
  /// Number of blocks of a launch and of threads of a block. `blocks` is 0 if
  /// the results have no elements.
  int64_t blocks = 1, threads = 1;

  /// Returns the number of loop iterations (rounds) in which a team of threads
  /// covers one row. In each round, a thread computes `vector` neighboring
  /// elements. In the last round some threads may have none.
  int64_t rounds() const;
};

/// Returns the division of `kernel` over blocks and threads. It depends only on
/// the body and the types of `kernel`.
GpuPlan gpuPlanOf(rank::KernelOp kernel);

/// Largest number of bytes that one instruction of a thread can load or store.
constexpr int64_t widestAccess = 16;

/// Returns the number of elements of a tile in the multi-tensor version of
/// `kernel`. One launch of this version computes many tensors, which are cut
/// into tiles. A block of 256 threads computes a tile. Each thread computes as
/// many elements as it can load at once.
int64_t elementsPerTile(rank::KernelOp kernel);

/// Bytes of shared memory that a block can use without a special launch
/// attribute.
constexpr int64_t sharedBytes = 48 << 10;

/// Side length, in elements, of the square tiles in which operands are
/// transposed.
constexpr int64_t tileSize = 32;

/// Number of elements from one row of a transposed tile to the next in shared
/// memory. The padding avoids bank conflicts when threads read a column.
constexpr int64_t tilePitch = tileSize + 1;

/// Returns the dim of the result of `op` that is the innermost dim of the
/// operand. Example: 0 for the transpose of a matrix. Returns -1 in three
/// cases:
///
///   - The innermost dim of the operand is also that of the result.
///   - The result has less than 16 elements along this dim or its last dim.
///   - The result does not have the shape `shape`.
int64_t transposedDimOf(graph::TransposeOp op, llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
