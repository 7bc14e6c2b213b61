//===- GpuPlan.h - how a kernel is divided over threads -------------------===//
//
// Without reductions a thread computes `vector` neighbouring elements, or a
// block turns squares of what lies across its result (TransposeTiles.h). With
// reductions a team of threads shares a row, and a block has several teams. Of
// rows along memory the threads of a team are neighbours; of rows across it,
// threads of neighbouring rows are:
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

struct GpuPlan {
  KernelPlan loops;
  /// Neighbouring elements that a thread takes at once: 16 bytes where they
  /// are that many. Divides `groupSize`.
  int64_t vector = 1;
  /// Elements of the innermost loop's dims.
  int64_t groupSize = 1;
  /// Of rows: threads of a team, and teams of a block; powers of two.
  int64_t team = 1, teams = 1;
  bool isAcross = false;
  /// The dim of the results that lies along the memory of an operand that is
  /// transposed; -1 where there is none to be transposed.
  int64_t transposedDim = -1;
  int64_t blocks = 1, threads = 1;

  /// How often a team goes over its row.
  int64_t rounds() const;
};

GpuPlan gpuPlanOf(rank::KernelOp kernel);

/// Bytes of the widest access to memory.
constexpr int64_t widestAccess = 16;

/// Elements of a tile of a kernel in parts, of which a thread takes as many as
/// the widest access has.
int64_t elementsPerTile(rank::KernelOp kernel);

/// Of shared memory that a block has without asking for more.
constexpr int64_t sharedBytes = 48 << 10;

/// Elements along a side of a square that is transposed.
constexpr int64_t tileSize = 32;

/// Elements from one of its rows to the next in shared memory: columns then lie
/// in different banks.
constexpr int64_t tilePitch = tileSize + 1;

/// The dim of `op`'s result, of `shape`, along which its operand lies in
/// memory; -1 if they lie alike or are too small to care.
int64_t transposedDimOf(graph::TransposeOp op, llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_GPUPLAN_H
