//===- TeamThreads.h - distribution of a row over a team of GPU threads ---===//

#ifndef PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
#define PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H

#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/kernel/RowThreads.h"

namespace pcc::emit {

/// Team of GPU threads that compute one row together. A row is a set of
/// elements that are reduced together. The threads run a loop over the row. In
/// each iteration, each thread computes `GpuPlan::vector` neighboring elements.
/// In the last iteration, some threads may have no elements. Example with 2
/// threads and `GpuPlan::vector` = 2:
///
///   element     0    1    2    3    4    5    6    7
///   iteration   0    0    0    0    1    1    1    1
///   thread      t0   t0   t1   t1   t0   t0   t1   t1
///
/// join() combines the values of all threads of a team in a fixed order. All
/// threads of a block must reach every join().
class TeamThreads : public RowThreads {
public:
  /// Determines the position of the current thread: the index of its team in
  /// the block, and the index of the thread in this team. A team is a group of
  /// threads that compute one row together. The parameters are:
  ///
  ///   indices   creates the two indices
  ///   plan      has the sizes of teams and blocks. `plan` must outlive this
  ///             object.
  ///   thread    index of the current thread in its block
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
  /// Emits one iteration of the loop in which a team of threads computes a row.
  /// A row is a set of elements that are reduced together. `number` is the
  /// index of the iteration. In the iteration, each thread computes
  /// `GpuPlan::vector` neighboring elements of the row. `body` emits the code
  /// for one element. If a thread has no elements in this iteration, the thread
  /// skips the code.
  ///
  /// `carried` are the loop-carried values before the iteration, such as a
  /// partial sum. Returns the loop-carried values after the iteration.
  llvm::SmallVector<mlir::Value> round(KernelWriter &w, const Index &number,
                                       mlir::ValueRange carried, NestBody body);
  /// Emits code in which this thread computes one group of elements of a row. A
  /// group consists of `GpuPlan::vector` neighboring elements. `number` is the
  /// index of the iteration of the loop over the row. `chunk` is the index of
  /// the group in the row. Example: in iteration 1, the two threads of a team
  /// compute the groups 2 and 3. `body` emits the code for one element, and is
  /// called once for each element of the group. `carried` are the loop-carried
  /// values before the iteration, such as a partial sum. Returns the values
  /// after the iteration.
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
  /// Element for which the function turn() is emitting code. turn() emits code
  /// for several elements of a row, one element after another. A row is a set
  /// of elements that are reduced together. Two fields identify the element:
  ///
  ///   current       multi-index of the element along the reduced dims,
  ///                 empty if turn() is not running
  ///   currentSlot   number of elements of the row that this thread computes
  ///                 before the element
  ///
  /// Example: a thread computes elements 2, 3, 6 and 7 of the row. For element
  /// 6, `currentSlot` is 2.
  MultiIndex current;
  Index currentSlot;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_KERNEL_TEAMTHREADS_H
