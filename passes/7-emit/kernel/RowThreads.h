//===- RowThreads.h - distribution of a row's elements over threads -------===//
//
// A kernel describes the work on a row without saying which thread does it:
// fold all elements, then do something with each element. RowThreads assigns
// the elements to threads. On a processor one thread computes whole rows
// (OneThread). On a GPU several threads share a row
// (gpu/kernel/TeamThreads.h).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_ROWTHREADS_H
#define PCC_PASSES_7_EMIT_KERNEL_ROWTHREADS_H

#include "passes/7-emit/kernel/Index.h"
#include "passes/7-emit/kernel/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace pcc::emit {

class KernelWriter;

/// Function that emits one iteration of a loop nest. Takes the multi-index of
/// the iteration and the values that the previous iteration returned. Returns
/// the values for the next iteration.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// Function that emits the combination of the values of two threads. Each
/// thread has run a loop over some elements of a row. Returns the values that
/// one loop over the elements of both threads would return.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// Interface to the threads that share the current row of a KernelWriter. A row
/// is a set of elements that are reduced to one. The methods emit code that
/// each of these threads executes.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Emits a loop that runs `body` for every element of the row that is
  /// assigned to this thread. `carried` are the values passed to the first
  /// iteration. Returns the values that the last iteration returns.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// Emits the combination, by `merge`, of the values `own` of all threads of
  /// the row. Every thread receives the combined values. Threads of a GPU may
  /// wait for each other in this code, so all threads of a block must execute
  /// it.
  virtual llvm::SmallVector<mlir::Value>
  join(KernelWriter &w, mlir::ValueRange own, MergeBody merge) = 0;

  /// Emits `body` so that exactly one thread of the row executes it.
  virtual void once(KernelWriter &w, llvm::function_ref<void()> body) = 0;
  /// Emits `body`, which stores the results of the row. A GPU kernel can have
  /// more threads than its rows need. The surplus threads repeat the row of
  /// other threads, but skip `body`.
  virtual void store(KernelWriter &w, llvm::function_ref<void()> body) = 0;

  /// Returns the size of the buffer in which a thread keeps its elements of a
  /// row: the largest number of elements of a row that are assigned to one
  /// thread. Returns std::nullopt if there are too many elements to keep.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Returns the index, in [0, numSlots()), that an element has in this
  /// thread's buffer. `inner` are the indices of the element along the inner
  /// dims, which the reductions run over. Returns std::nullopt if the element
  /// may be assigned to another thread.
  virtual std::optional<Index> slotOf(KernelWriter &w,
                                      llvm::ArrayRef<Index> inner) const = 0;
};

/// Implementation for one thread per row, as on CPUs. The thread computes all
/// elements of the row, in row-major order of the inner dims.
class OneThread : public RowThreads {
public:
  llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) override;
  llvm::SmallVector<mlir::Value> join(KernelWriter &w, mlir::ValueRange own,
                                      MergeBody merge) override;
  void once(KernelWriter &w, llvm::function_ref<void()> body) override;
  void store(KernelWriter &w, llvm::function_ref<void()> body) override;
  std::optional<int64_t> numSlots(const RowSpace &rows) const override;
  std::optional<Index> slotOf(KernelWriter &w,
                              llvm::ArrayRef<Index> inner) const override;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_ROWTHREADS_H
