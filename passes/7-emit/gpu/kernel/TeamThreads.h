//===- TeamThreads.h - distribution of a row over a team of GPU threads ---===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Team of GPU threads that compute one row (elements that are reduced
/// together) in a loop. In each iteration, each thread computes
/// `GpuPlan::vector` neighboring elements. Example: with 2 threads and a
/// `vector` of 2, thread 0 computes the elements 0, 1, 4 and 5. join() combines
/// the values of all threads of a team in a fixed order. All threads of a block
/// must reach every join().
class TeamThreads : public RowThreads {
public:
  /// Determines the position of the current thread: the index of the thread in
  /// its team, and of the team in the block. `thread` is the index of the
  /// thread in the block. `plan` must outlive this object.
  TeamThreads(IndexSpace &indices, const GpuPlan &plan, const Index &thread);

  /// Returns the index, within the block, of this thread's team.
  const Index &teamNumber() const { return number; }

  /// Selects the threads that store results to memory. The function store()
  /// emits code that stores results. `condition` is an i1. A thread executes
  /// the code if `condition` is true in the thread. A thread skips the code if
  /// `condition` is false in the thread. Without a call of setIsWanted(), all
  /// threads execute the code.
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
  /// Emits iteration `number` of the loop over a row. Each thread computes
  /// `GpuPlan::vector` elements by `body`. A thread for which no elements are
  /// left skips the iteration. `carried` and the result are the loop-carried
  /// values before and after the iteration.
  llvm::SmallVector<mlir::Value> round(KernelWriter &w, const Index &number,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits `body` for the `GpuPlan::vector` neighboring elements that this
  /// thread computes in iteration `number`. The row is divided into groups of
  /// this size, and `chunk` is the index of the group. `carried` and the result
  /// are the loop-carried values before and after the iteration.
  llvm::SmallVector<mlir::Value> turn(KernelWriter &w, const Index &number,
                                      const Index &chunk,
                                      mlir::ValueRange carried, NestBody body);

  const GpuPlan &plan;
  /// Position of this thread. A team is a group of threads that compute one row
  /// together. `member` is the index of the thread in its team. `number` is the
  /// index of the team in the block.
  Index member, number;
  /// Whether this thread stores results, an i1. Null if all threads store them.
  mlir::Value isWanted;
  /// Element of the row for which turn() emits code. `current` is the
  /// multi-index of the element along the reduced dims. It is empty if turn()
  /// is not running. `currentSlot` is the number of elements of the row that
  /// this thread computes before the element.
  MultiIndex current;
  Index currentSlot;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
