//===- Kernels.cpp - lowering of launches of generated kernels ------------===//

#include "dialects/dist/DistDialect.h"
#include "passes/7-emit/gpu/kernel/GpuPlan.h"
#include "passes/7-emit/instructions/Attention.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// Returns a formula for the index at which the shard of a rank begins. Its
/// variables are the mesh coordinates of the rank. Example: axes a (size 2) and
/// b (size 3) split 24 elements. The formula is 12 · a + 4 · b, in which a and
/// b are the rank's coordinates along these axes.
static std::unique_ptr<program::ScalarT> makeScalar(rank::OffsetAttr offset,
                                                    const RankMesh &mesh) {
  auto scalar = std::make_unique<program::ScalarT>();
  const dist::Sharding &sharding =
      cast<dist::ShardingAttr>(offset.getSharding()).getSharding();
  const dist::Factor &factor = sharding.dims[0].factors[offset.getFactor()];
  int64_t coefficient = factor.localSize();
  for (const dist::SubAxis &axis : llvm::reverse(factor.axes)) {
    auto &term = scalar->terms.emplace_back(std::make_unique<program::TermT>());
    term->coefficient = coefficient;
    term->part =
        std::make_unique<program::Part>(runtime::toProgram(axis, mesh.ranks()));
    coefficient *= axis.size;
  }
  return scalar;
}

/// Returns the names of the graph ops that the kernel computes, such as "add,
/// relu". Each name occurs once, at the place of the first op with this name.
/// Constants are left out.
static std::string opsOf(rank::KernelOp kernel) {
  llvm::SetVector<StringRef> names;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isa<graph::ConstantOp>(op))
      names.insert(op.getName().stripDialect());
  return llvm::join(names, ", ");
}

/// Appends the instruction of a kernel launch. For GPUs, the instruction also
/// has the numbers of blocks and threads. For an attention kernel on GPUs, it
/// also has a description by which the device can call cuDNN instead.
static bool buildLaunch(Operation *op, InstructionWriter &writer) {
  auto launch = cast<rank::LaunchOp>(op);
  rank::KernelOp kernel = writer.kernel(launch.getKernel());
  program::KernelT made;
  made.kernel = writer.kernelNumber(launch.getKernel());
  for (Value operand : launch.getInputs())
    made.buffers.push_back(writer.bufferOf(operand));
  for (Value result : launch.getResults())
    made.buffers.push_back(writer.bufferOf(result));
  if (ArrayAttr scalars = kernel.getScalarsAttr())
    for (auto offset : scalars.getAsRange<rank::OffsetAttr>())
      made.scalars.push_back(makeScalar(offset, writer.facts.mesh));
  made.extent = static_cast<int64_t>(kernel.getExtent());
  made.grain = static_cast<int64_t>(kernel.getGrain());
  made.num_results = static_cast<int32_t>(launch.getResults().size());
  made.ops = opsOf(kernel);
  if (dist::targetOf(writer.facts.module) == "cuda") {
    const GpuPlan plan = gpuPlanOf(kernel);
    made.blocks = static_cast<int32_t>(plan.blocks);
    made.threads = static_cast<int32_t>(plan.threads);
    made.attention = describeAttention(launch, kernel, writer);
  }
  writer.emit(op, std::move(made));
  return true;
}

/// Appends the instruction of a multi-tensor launch (multi-tensor apply, NVIDIA
/// Apex): one launch computes several tensors, called parts. Each GPU block
/// computes one tile of one part.
static bool buildLaunchParts(Operation *op, InstructionWriter &writer) {
  auto launch = cast<rank::LaunchPartsOp>(op);
  rank::KernelOp kernel = writer.kernel(launch.getKernel());
  program::KernelT made;
  made.kernel = writer.kernelNumber(launch.getKernel());
  made.shared = static_cast<int32_t>(launch.getShared().size());
  for (Value operand : launch->getOperands())
    made.buffers.push_back(writer.bufferOf(operand));
  for (Value result : launch.getResults())
    made.buffers.push_back(writer.bufferOf(result));
  made.num_results = static_cast<int32_t>(launch.getResults().size());
  made.ops = opsOf(kernel);
  made.tile = graph::tensorType(kernel.getYield().getResults().front())
                  .getNumElements();
  const auto parts = static_cast<size_t>(launch.numParts(kernel));
  for (Value result : launch.getResults().take_front(parts)) {
    made.parts.push_back(graph::tensorType(result).getNumElements());
    made.blocks +=
        static_cast<int32_t>(llvm::divideCeil(made.parts.back(), made.tile));
  }
  made.threads = static_cast<int32_t>(gpuPlanOf(kernel).threads);
  writer.emit(op, std::move(made));
  return true;
}

void emit::addKernelInstructions(InstructionTable &table) {
  table.add<rank::LaunchOp>(buildLaunch);
  table.add<rank::LaunchPartsOp>(buildLaunchParts);
}
