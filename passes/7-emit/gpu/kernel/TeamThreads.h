//===- TeamThreads.h - threads of a GPU that share a row ------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Gives a team's threads turns of `vector` neighbouring elements. Joins by
/// shuffles within a warp, and through shared memory beyond it, always in the
/// same order. All threads of a block have to get to a join.
class TeamThreads : public RowThreads {
public:
  /// `thread` is the thread's number in its block.
  TeamThreads(IndexSpace &indices, const GpuPlan &plan, const Index &thread);

  /// The number in the block of this thread's team.
  const Index &teamNumber() const { return number; }

  /// Only threads for which it holds store what a row comes to.
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
  llvm::SmallVector<mlir::Value> round(KernelWriter &w, const Index &number,
                                       mlir::ValueRange carried, NestBody body);
  llvm::SmallVector<mlir::Value> turn(KernelWriter &w, const Index &number,
                                      const Index &chunk,
                                      mlir::ValueRange carried, NestBody body);

  const GpuPlan &plan;
  /// Of this thread in its team, and of its team in the block.
  Index member, number;
  /// An i1; null where it always holds.
  mlir::Value isWanted;
  /// The element that is being written, and where the thread may keep it.
  MultiIndex current;
  Index currentSlot;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
