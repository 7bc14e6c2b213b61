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

/// Function that emits the body of a loop nest. The parameters are one index
/// per dim, and the loop-carried values (like the iter_args of an scf.for).
/// Returns the loop-carried values for the next iteration.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// Function that emits the combination of two threads' results, such as the sum
/// of two partial sums. Each thread has run a loop over its own elements of a
/// row (set of elements reduced together). Returns the combined values.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// Distribution of a row (elements reduced together) over threads. On a CPU,
/// one thread computes the whole row. On a GPU, a team of threads may share a
/// row. For a sum, forEach() emits the sum of each thread's elements, and
/// join() emits the sum over the threads.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Emits a loop in which each thread visits its own elements of a row. `body`
  /// receives the indices of an element along the reduced dims. `carried` are
  /// the initial values of the loop-carried values. Returns the final values of
  /// the current thread.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// Emits code that combines the values `own` of all threads that share a row,
  /// such as the sum of their partial sums. `merge` combines the values of two
  /// threads. Every thread gets the result. On a GPU, the code can contain a
  /// barrier, so all threads of a block must execute it.
  virtual llvm::SmallVector<mlir::Value>
  join(KernelWriter &w, mlir::ValueRange own, MergeBody merge) = 0;

  /// Emits `body` so that only one of the threads that share a row executes
  /// `body`. A row is a set of elements that are reduced together. On a GPU, a
  /// team of threads shares a row, and the first thread of the team executes
  /// `body`. On a CPU, one thread computes the row, and executes `body`.
  virtual void once(KernelWriter &w, llvm::function_ref<void()> body) = 0;
  /// Emits `body`, which stores the results of a row. A row is a set of
  /// elements that are reduced together. On a GPU, a team of threads computes
  /// each row, and every block has the same number of teams. The last block may
  /// have more teams than there are rows left: with 10 rows and 4 teams per
  /// block, 3 blocks have 12 teams, so that 2 teams have no row. The threads of
  /// such a surplus team skip `body`.
  virtual void store(KernelWriter &w, llvm::function_ref<void()> body) = 0;

  /// Returns the number of elements in the stack buffer of one thread: all
  /// elements of one row (elements reduced together) that the thread computes.
  /// Returns std::nullopt if this is too much for the stack.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Returns the index in the stack buffer of the current thread at which the
  /// thread holds one element of its row. `inner` has the indices of this
  /// element along the reduced dims. Returns std::nullopt if another GPU thread
  /// may hold the element. On a GPU, this is the case for all elements except
  /// the one for which forEach() is calling its `body`.
  virtual std::optional<Index> slotOf(KernelWriter &w,
                                      llvm::ArrayRef<Index> inner) const = 0;
};

/// Distribution of the elements of a row on a CPU: one thread computes all
/// elements of the row. A row is a set of elements that are reduced together.
/// The thread computes the elements in row-major order.
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
