//===- TeamThreads.h - distribution of a row over a team of GPU threads ---===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Team of GPU threads that share a row. In each loop iteration (round), every
/// thread computes `vector` neighboring elements:
///
///   team of 2, vector 2:   t0 t0 t1 t1 | t0 t0 t1 t1 | ...
///
/// join() combines the values of all threads of a team, always in the same
/// order. All threads of a block must reach every join().
class TeamThreads : public RowThreads {
public:
  /// `thread` is the index of the current thread in its block. `plan` must
  /// outlive this object.
  TeamThreads(IndexSpace &indices, const GpuPlan &plan, const Index &thread);

  /// Returns the index, within the block, of this thread's team.
  const Index &teamNumber() const { return number; }

  /// Makes store() skip its body in threads for which the i1 `condition` is
  /// false.
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
  /// Emits iteration `number` of the loop in which a team of threads covers a
  /// row. Each thread runs `body` for `vector` neighboring elements. A thread
  /// for which no elements are left skips `body`.
  llvm::SmallVector<mlir::Value> round(KernelWriter &w, const Index &number,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits `body` for the `vector` neighboring elements that this thread
  /// handles in iteration `number` of the loop over a row. The first of them is
  /// element `chunk` · `vector` of the row. `carried` are the values that the
  /// loop carries.
  llvm::SmallVector<mlir::Value> turn(KernelWriter &w, const Index &number,
                                      const Index &chunk,
                                      mlir::ValueRange carried, NestBody body);

  const GpuPlan &plan;
  /// Index of this thread in its team (`member`), and of the team in the block
  /// (`number`).
  Index member, number;
  /// Whether this thread stores results, an i1. Null if all threads store them.
  mlir::Value isWanted;
  /// Element for which turn() is emitting code. `current` has its indices
  /// within the row, and is empty outside of turn(). `currentSlot` is its index
  /// among all elements of the row that this thread handles.
  MultiIndex current;
  Index currentSlot;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
