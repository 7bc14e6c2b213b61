//===- AttentionPairs.cpp - pairs of attention gradients for cuDNN --------===//

#include "passes/7-emit/program/AttentionPairs.h"
#include "runtime/program/InstructionOperands.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace pcc;

static bool touches(const program::InstructionT &instruction, int32_t buffer) {
  return llvm::is_contained(runtime::buffersOf(instruction), buffer);
}

void pcc::emit::pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions) {
  for (size_t i = 0; i < instructions.size(); ++i) {
    program::KernelT *second = instructions[i]->body.AsKernel();
    if (!second || !second->attention ||
        second->attention->part != program::AttentionPart::KeyGradients)
      continue;
    // Find the last instruction before instructions[i] that reads or writes dq,
    // the gradient of the queries. It is instructions[last - 1]; `last` is 0 if
    // there is none.
    const int32_t buffer = second->attention->query_gradient->buffer();
    size_t last = i;
    while (last > 0 && !touches(*instructions[last - 1], buffer))
      --last;
    program::KernelT *first =
        last > 0 ? instructions[last - 1]->body.AsKernel() : nullptr;
    // With cuDNN, the runtime skips the kernel `first`, which computes dq.
    // Later, one cuDNN call in place of instructions[i] computes dq, dk and dv.
    // No instruction between `first` and instructions[i] may therefore touch
    // dq. Check that dq is a result of `first`: the last `num_results` buffers
    // of a kernel are its results.
    if (!first || first->buffers.size() < size_t(first->num_results) ||
        !llvm::is_contained(
            llvm::ArrayRef(first->buffers).take_back(first->num_results),
            buffer)) {
      second->attention.reset();
      continue;
    }
    first->attention =
        std::make_unique<program::AttentionT>(*second->attention);
    first->attention->part = program::AttentionPart::QueryGradient;
  }
}
