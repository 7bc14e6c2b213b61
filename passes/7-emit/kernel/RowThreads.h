//===- RowThreads.h - who computes the elements of a row ------------------===//
//
// On a processor a thread computes whole rows; on a GPU several threads share
// one. What a kernel says about a row is the same: fold its elements, then do
// something with each.
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

/// Code of one iteration: from its place and what the one before carried to
/// what it carries.
using NestBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    llvm::ArrayRef<Index>, mlir::ValueRange)>;
/// What two threads have carried as if one had.
using MergeBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange, mlir::ValueRange)>;

/// The threads that share a row. The row is `rows` of the writer.
class RowThreads {
public:
  virtual ~RowThreads() = default;

  /// Over the elements that are this thread's.
  virtual llvm::SmallVector<mlir::Value>
  forEach(KernelWriter &w, mlir::ValueRange carried, NestBody body) = 0;
  /// What all of them have carried, on each of them.
  virtual llvm::SmallVector<mlir::Value>
  join(KernelWriter &w, mlir::ValueRange own, MergeBody merge) = 0;

  /// What one of the threads does for all.
  virtual void once(KernelWriter &w, llvm::function_ref<void()> body) = 0;
  /// What stores the row's results.
  virtual void store(KernelWriter &w, llvm::function_ref<void()> body) = 0;

  /// Elements of a row that a thread has at most; none where that is more than
  /// it may keep.
  virtual std::optional<int64_t> numSlots(const RowSpace &rows) const = 0;
  /// Where a thread keeps the element at `inner`; nothing where the element may
  /// be another thread's.
  virtual std::optional<Index> slotOf(KernelWriter &w,
                                      llvm::ArrayRef<Index> inner) const = 0;
};

/// Each row has a thread of its own.
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
