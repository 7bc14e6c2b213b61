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

/// Function that emits one iteration of a loop nest. Takes the multi-index and
/// the values from the previous iteration. Returns the values for the next one.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// Function that emits the combination of two threads' results, such as the sum
/// of two partial sums. Each thread has run a loop over its own elements of a
/// row (set of elements reduced together). Returns the combined values.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// Distribution of a row (set of elements reduced together) over threads. All
/// threads of the row execute the code that the methods emit.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Emits a loop in which each thread runs `body` for its own elements of the
  /// row. `carried` are the initial loop-carried values. Returns their final
  /// values.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// Emits the combination of the values `own` of all threads of the row, such
  /// as partial sums. `merge` emits the combination of two threads' values.
  /// Every thread receives the result. On a GPU, all threads of a block must
  /// execute this code.
  virtual llvm::SmallVector<mlir::Value>
  join(KernelWriter &w, mlir::ValueRange own, MergeBody merge) = 0;

  /// Emits `body` so that exactly one thread of the row executes it.
  virtual void once(KernelWriter &w, llvm::function_ref<void()> body) = 0;
  /// Emits `body`, which stores the results of the row. A GPU can have surplus
  /// threads without a row of their own. They skip `body`.
  virtual void store(KernelWriter &w, llvm::function_ref<void()> body) = 0;

  /// Returns the largest number of elements of a row that one thread computes,
  /// which is the size of its stack buffer. Returns std::nullopt if they are
  /// too many for a stack buffer.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Returns the index of an element of the row in this thread's stack buffer,
  /// in [0, numSlots()). `inner` are the element's indices along the reduced
  /// dims. Returns std::nullopt if the element may lie in another thread's
  /// buffer.
  virtual std::optional<Index> slotOf(KernelWriter &w,
                                      llvm::ArrayRef<Index> inner) const = 0;
};

/// Implementation for one thread per row, as on CPUs. The thread computes all
/// elements of the row in row-major order.
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
