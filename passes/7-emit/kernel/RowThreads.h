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

/// Emits one iteration of a loop nest. Takes the iteration's multi-index and
/// the loop-carried values, and returns the values for the next iteration.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// Emits the merge of the loop-carried values of two threads. Returns the
/// values that one thread with the elements of both would have carried.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// Interface to the threads that share the current row of a writer
/// (KernelWriter::rows, KernelWriter::outer). Its methods emit code that each
/// of these threads executes.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Emits `body` for every element of the row that this thread owns. `carried`
  /// are the values before the first element. Returns the values after the
  /// last element.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// Emits the merge of the values `own` of all threads of the row. Every
  /// thread gets the merged values. Threads of a GPU may wait for each other
  /// here, so all threads of a block must execute this code.
  virtual llvm::SmallVector<mlir::Value>
  join(KernelWriter &w, mlir::ValueRange own, MergeBody merge) = 0;

  /// Emits `body` so that exactly one thread of the row executes it.
  virtual void once(KernelWriter &w, llvm::function_ref<void()> body) = 0;
  /// Emits `body`, which stores the results of the row. Spare
  /// threads, which only repeat the row of other threads, skip `body`.
  virtual void store(KernelWriter &w, llvm::function_ref<void()> body) = 0;

  /// Returns the largest number of elements of a row that a thread owns.
  /// Returns std::nullopt if a thread has no room to keep that many.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Returns the slot, in [0, numSlots()), in which this thread keeps the
  /// element at `inner`. Returns std::nullopt if another thread may own the
  /// element.
  virtual std::optional<Index> slotOf(KernelWriter &w,
                                      llvm::ArrayRef<Index> inner) const = 0;
};

/// One thread that owns all elements of the row and visits them in row-major
/// order of the inner dims.
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
