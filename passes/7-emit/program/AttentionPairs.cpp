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
    // Find the last instruction before instructions[i] that reads or writes dq.
    // dq is the gradient of the queries of an attention. `buffer` is the index
    // of the buffer that holds dq. instructions[i] is a kernel that computes
    // the gradients of the keys and values of the same attention.
    //
    // The loop searches backward from instructions[i - 1]. After the loop, the
    // found instruction is instructions[last - 1]. Example: if instruction 4
    // is the last one that reads or writes dq, `last` is 5. If no instruction
    // before instructions[i] reads or writes dq, `last` is 0.
    const int32_t buffer = second->attention->query_gradient->buffer();
    size_t last = i;
    while (last > 0 && !touches(*instructions[last - 1], buffer))
      --last;
    program::KernelT *first =
        last > 0 ? instructions[last - 1]->body.AsKernel() : nullptr;
    // One cuDNN call can compute the three gradients of an attention: dq of the
    // queries, dk of the keys and dv of the values. Without cuDNN, a first
    // kernel computes dq, and a second kernel, instructions[i], computes dk and
    // dv. With cuDNN, the first kernel is skipped, and the cuDNN call replaces
    // the second kernel. cuDNN then writes dq only at instructions[i]. An
    // instruction between the two kernels must therefore not read or write dq.
    //
    // `first` is the last instruction before instructions[i] that reads or
    // writes dq. `first` is null if this instruction is not a kernel or does
    // not exist. Do not use cuDNN unless `first` is a kernel that computes dq.
    // The last `num_results` entries of the list `buffers` of a kernel are the
    // buffers that the kernel computes.
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
