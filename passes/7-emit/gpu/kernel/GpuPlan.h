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
  /// Loops of the kernel. A kernel without reductions has loops over the
  /// elements of its results. A kernel with reductions has outer loops over
  /// rows, and inner loops over the elements of one row. A row is a set of
  /// elements that are reduced together. Example: the sum of an [8, 32] tensor
  /// over dim 1 reduces 8 rows of 32 elements.
  KernelPlan loops;
  /// Number of neighboring elements that a thread computes together. The number
  /// is 16 bytes divided by the size of the narrowest element type of the
  /// kernel's operands and results, without types of less than 16 bits. It is
  /// halved until it divides `groupSize`. Example for bf16: 16 bytes are 8
  /// elements, and 8 is halved to 4 for a `groupSize` of 12. The number is 1 in
  /// a kernel that computes attention, reduces columns, or transposes through
  /// shared memory.
  int64_t vector = 1;
  /// Number of iterations of the kernel's innermost loop. This loop can cover
  /// several neighboring dims of a tensor. Example: if the innermost loop
  /// covers dims 1 and 2 of the shape [8, 4, 6], it has 4 · 6 = 24 iterations.
  int64_t groupSize = 1;
  /// Team sizes in a kernel with reductions. A team is a group of `team`
  /// threads that reduce one row together. A block has `teams` teams, each with
  /// its own row. Both numbers are powers of two.
  int64_t team = 1, teams = 1;
  /// Whether the kernel reduces columns, whose elements are strided in memory.
  /// Example: the sum of a [500, 64] tensor over dim 0. The value is false for
  /// fewer than 8 neighboring columns.
  bool isAcross = false;
  /// Dim of the results to which a transpose through shared memory moves the
  /// innermost dim of its operand. Example: 0 for a transpose from [64, 96] to
  /// [96, 64]. The value is -1 if the kernel has no such transpose.
  int64_t transposedDim = -1;
  /// Size of a launch of the kernel. `blocks` is the number of blocks.
  /// `threads` is the number of threads of each block. If the results of the
  /// kernel have no elements, `blocks` is 0.
  int64_t blocks = 1, threads = 1;

  /// Returns the number of loop iterations in which a team of threads reduces
  /// one row. Each thread computes `vector` elements per iteration. Example: 4
  /// for a row of 400 elements, a `team` of 32 and a `vector` of 4. The kernel
  /// must have reductions.
  int64_t rounds() const;
};

/// Returns how the work of `kernel` is divided over the blocks and threads of a
/// GPU. Two kernels with equal bodies and equal types have the same division.
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

/// Distance in shared memory from the start of one row of a tile to the start
/// of the next row, in elements. A tile has 32 rows of 32 elements. One unused
/// element follows each row, so the distance is 33. Without the unused element,
/// neighboring elements of a column would often lie in the same memory bank.
/// Threads that read a column would then have to wait for each other.
constexpr int64_t tilePitch = tileSize + 1;

/// Returns the dim of the result to which `op` moves the innermost dim of its
/// operand. Example: 0 for a transpose from [64, 96] to [96, 64]. Returns -1 if
/// `op` should not use shared memory. `shape` is the shape of the kernel's
/// results.
int64_t transposedDimOf(graph::TransposeOp op, llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
