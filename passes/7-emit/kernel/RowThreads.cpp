//===- RowThreads.cpp - distribution of a row's elements over threads -----===//

#include "passes/7-emit/kernel/RowThreads.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::emit;

/// Size, in elements, of the longest row that a CPU thread stores on the stack.
/// A row is a set of elements that are reduced together. A kernel often needs
/// each element of a row several times. If the row has at most `mostOnStack`
/// elements, the thread can compute each element once and store the element in
/// a buffer on the stack. If the row is longer, the thread has no such buffer,
/// and computes an element again when the element is needed again.
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
