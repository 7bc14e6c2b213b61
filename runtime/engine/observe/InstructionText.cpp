//===- InstructionText.cpp - names of instructions for messages -----------===//

#include "runtime/engine/observe/InstructionText.h"

namespace pcc::runtime {

std::string opsOf(const program::InstructionT &instruction) {
  const program::InstructionBodyUnion &body = instruction.body;
  if (const program::KernelT *kernel = body.AsKernel();
      kernel && !kernel->ops.empty())
    return kernel->ops;
  if (const program::CollectiveT *collective = body.AsCollective())
    return program::EnumNameCollectiveKind(collective->kind);
  if (const program::HostOpT *op = body.AsHostOp())
    return op->name;
  return program::EnumNameInstructionBody(body.type);
}

std::string describe(const program::InstructionT &instruction) {
  const std::string ops = opsOf(instruction);
  const char *noun = ops.find(',') == std::string::npos ? "op " : "ops ";
  return noun + ops +
         (instruction.node.empty() ? ""
                                   : " of node '" + instruction.node + "'");
}

} // namespace pcc::runtime
