//===- InstructionTable.cpp - lowering of ops to program instructions -----===//

#include "passes/7-emit/program/InstructionTable.h"
#include "runtime/program/CollectivePlan.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

InstructionWriter::InstructionWriter(const ModelFacts &facts,
                                     BufferPlan &buffers,
                                     program::ProgramT &program)
    : facts(facts), buffers(buffers) {
  int number = 0;
  for (auto kernel : ModuleOp(facts.module).getOps<rank::KernelOp>())
    kernels[kernel.getSymName()] = {kernel, number++};
  for (const ElementTypes &types : randomKernelsOf(facts.module))
    randomKernels.push_back({types, {{}, number++}});
}

int32_t InstructionWriter::numberOf(KernelEntry &entry) {
  if (entry.number < 0) {
    entry.number = static_cast<int32_t>(used.size());
    used.push_back(entry.numberInModule);
  }
  return entry.number;
}

int32_t InstructionWriter::kernelNumber(StringRef symbol) {
  return numberOf(kernels[symbol]);
}

void InstructionWriter::setGenerator(graph::ParameterOp declaration,
                                     program::ParameterT &parameter) {
  const auto types = randomTypesOf(declaration);
  for (auto &[made, entry] : randomKernels)
    if (types == made)
      parameter.generator = numberOf(entry);
}

rank::KernelOp InstructionWriter::kernel(StringRef symbol) const {
  return kernels.lookup(symbol).op;
}

int64_t
InstructionWriter::scratchElements(const void *key,
                                   const runtime::CollectiveSpec &spec) {
  auto [entry, isNew] = knownScratch.insert({key, 0});
  if (isNew)
    entry->second =
        runtime::collectiveScratchElements(spec, facts.mesh.ranks());
  return entry->second;
}

/// Returns the table that maps the name of an op to a function. The function
/// appends the instructions of the op to a program. If `isForProcessors` is
/// true, the program runs on CPUs. Otherwise the program runs on GPUs, and the
/// table has no functions for convolutions, pooling ops, and ops such as top-k
/// that only the CPU device implements (see HostOps.cpp).
static InstructionTable makeTable(bool isForProcessors) {
  InstructionTable made;
  addNoOpInstructions(made);
  addContractionInstructions(made);
  addLibraryCallInstructions(made);
  addCollectiveInstructions(made);
  addKernelInstructions(made);
  addCheckInstructions(made);
  if (isForProcessors) {
    addWindowInstructions(made);
    addHostInstructions(made);
  }
  return made;
}

const InstructionTable &InstructionTable::get(StringRef target) {
  static const InstructionTable ofCpu = makeTable(true),
                                ofCuda = makeTable(false);
  return target == "cpu" ? ofCpu : ofCuda;
}

/// Returns the stride of each dim of `shape`, in elements. A stride is the
/// distance between neighboring elements along a dim in a dense row-major
/// tensor. A dim of size 0 counts as a dim of size 1, so that no stride is 0.
/// Examples: shape [2, 3, 4] has the strides [12, 4, 1], and shape [2, 0, 4]
/// has the strides [4, 4, 1].
std::vector<int64_t> emit::denseStrides(ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}
