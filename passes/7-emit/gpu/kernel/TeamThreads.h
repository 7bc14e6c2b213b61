//===- TeamThreads.h - distribution of a row over a team of GPU threads ---===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Team of GPU threads that share a row (GpuPlan.h). The row is processed in
/// rounds (loop iterations). In each round, every thread computes `vector`
/// neighboring elements, in the order of the threads:
///
///   team of 2, vector 2:   t0 t0 t1 t1 | t0 t0 t1 t1 | ...
///
/// join() combines the values of the threads of a team by shuffles within a
/// warp, and through shared memory between warps, always in the same order. All
/// threads of a block must reach every join().
class TeamThreads : public RowThreads {
public:
  /// `thread` is the index of the current thread in its block. `plan` must
  /// outlive this object.
  TeamThreads(IndexSpace &indices, const GpuPlan &plan, const Index &thread);

  /// Returns the index, within the block, of this thread's team.
  const Index &teamNumber() const { return number; }

  /// Restricts the code that store() emits: only threads for which `condition`,
  /// an i1, is true execute it.
  void setIsWanted(mlir::Value condition) { isWanted = condition; }

  llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) override;
  llvm::SmallVector<mlir::Value> join(KernelWriter &w, mlir::ValueRange own,
                                      MergeBody merge) override;
  void once(KernelWriter &w, llvm::function_ref<void()> body) override;
  void store(KernelWriter &w, llvm::function_ref<void()> body) override;
  std::optional<int64_t> numSlots(const RowSpace &rows) const override;
  std::optional<Index> slotOf(KernelWriter &w,
                              llvm::ArrayRef<Index> inner) const override;

private:
  /// Emits round `number` (a loop iteration) of forEach(). In a round, each
  /// thread of the team computes `vector` neighboring elements of the row.
  /// Threads that have no elements in this round skip `body`.
  llvm::SmallVector<mlir::Value> round(KernelWriter &w, const Index &number,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits `body` for each element that this thread computes in round `number`
  /// (a loop iteration). A chunk is a group of `vector` neighboring elements of
  /// the row. `chunk` is the number of this thread's chunk in the row.
  /// `carried` are the values that the loop carries.
  llvm::SmallVector<mlir::Value> turn(KernelWriter &w, const Index &number,
                                      const Index &chunk,
                                      mlir::ValueRange carried, NestBody body);

  const GpuPlan &plan;
  /// `member` is the index of this thread in its team. `number` is the index of
  /// the team in the block.
  Index member, number;
  /// Whether this thread stores results, an i1. Null if all threads store them.
  mlir::Value isWanted;
  /// Element whose code turn() is emitting. `current` has its indices within
  /// the row; empty outside of turn(). `currentSlot` is its index in the buffer
  /// in which this thread keeps elements of the row.
  MultiIndex current;
  Index currentSlot;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
