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

/// Function that emits the body of a loop nest, which visits all elements of a
/// shape. The first parameter is the indices of the current element, one index
/// per dim of the shape. The second parameter is the loop-carried values, like
/// the iter_args of an scf.for. The function returns the loop-carried values
/// for the next iteration. Example: if the loop nest adds up elements, the
/// loop-carried value is the sum of the previous elements. The function emits
/// the addition of the current element, and returns the new sum.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// Function that emits the combination of two threads' results, such as the sum
/// of two partial sums. Each thread has run a loop over its own elements of a
/// row (set of elements reduced together). Returns the combined values.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// Distribution of the elements of a row over threads. A row is a set of
/// elements that are reduced together. On a CPU, one thread computes all
/// elements of a row. On a GPU, a team of threads may share a row, and each
/// thread computes some of the elements.
///
/// The methods emit code, and all threads that share a row execute this code.
/// Example: to emit a sum, call forEach() first. forEach() emits a loop in
/// which each thread adds up some of the elements. Then call join(), which
/// emits the addition of the sums of all threads.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Emits a loop in which each thread visits its own elements of a row. `body`
  /// emits the code for one element. `body` receives the indices of the element
  /// along the reduced dims and the loop-carried values, and returns the new
  /// loop-carried values. Each thread begins with `carried`. Returns the
  /// loop-carried values of the current thread after the loop.
  ///
  /// Example: two threads share the row [1, 2, 3, 4] and compute a sum.
  /// `carried` is 0. The result can be 3 in the first thread and 7 in the
  /// second thread. join() can then add 3 and 7.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// Emits the combination of the values of all threads that share a row. A row
  /// is a set of elements that are reduced together. Every thread receives the
  /// result. `own` are the values of the current thread, such as a partial sum.
  /// `merge` emits the combination of the values of two threads. Example: four
  /// threads have the partial sums 1, 2, 3 and 4 as `own`, and `merge` emits an
  /// addition. All four threads receive 10.
  ///
  /// On a GPU, the emitted code can contain a barrier. All threads of a block
  /// must therefore execute the code.
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

  /// Returns the number of elements that the stack buffer of one thread holds.
  /// A row is a set of elements that are reduced together. A thread may compute
  /// an element of a row once and keep it in the buffer for later uses. The
  /// buffer has room for all elements of one row that the thread computes.
  /// `rows` tells which dims of a tensor are reduced.
  ///
  /// Example: a row has 32 elements. On a CPU, one thread computes all elements
  /// of the row, and the result is 32. On a GPU, four threads may share the
  /// row, and the result is 8.
  ///
  /// Returns std::nullopt if the elements are too many for a stack buffer.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Returns the position, counted from 0, of an element of the row in the
  /// stack buffer of the current thread. `inner` holds the indices of the
  /// element along the reduced dims. Example: two dims of sizes 4 and 6 are
  /// reduced, and `inner` is [2, 1]. On a CPU, the position is 2 · 6 + 1 = 13.
  ///
  /// On a GPU, threads may share the row, each with its own buffer. Returns
  /// std::nullopt if another thread may have the element. The buffer certainly
  /// has the element for which the parameter `body` of forEach() currently
  /// runs.
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
