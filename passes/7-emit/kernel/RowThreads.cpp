//===- RowThreads.cpp - distribution of a row's elements over threads -----===//

#include "passes/7-emit/kernel/RowThreads.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::emit;

/// Largest number of elements of a row that a thread keeps on its stack.
/// Elements of longer rows are computed anew at each use.
static constexpr int64_t mostOnStack = 8192;

SmallVector<Value> OneThread::forEach(KernelWriter &w, ValueRange carried,
                                      NestBody body) {
  return w.loops(w.rows.innerShape(), w.rows.innerGroups, carried, body);
}

SmallVector<Value> OneThread::join(KernelWriter &, ValueRange own, MergeBody) {
  return SmallVector<Value>(own);
}

void OneThread::once(KernelWriter &, llvm::function_ref<void()> body) {
  body();
}

void OneThread::store(KernelWriter &, llvm::function_ref<void()> body) {
  body();
}

std::optional<int64_t> OneThread::numSlots(const RowSpace &rows) const {
  if (rows.innerSize() > mostOnStack)
    return std::nullopt;
  return rows.innerSize();
}

std::optional<Index> OneThread::slotOf(KernelWriter &w,
                                       ArrayRef<Index> inner) const {
  return w.indices.linearise(inner, w.rows.innerShape());
}
