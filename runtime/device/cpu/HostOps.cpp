//===- HostOps.cpp - table of ops that the CPU device runs by name --------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/device/cpu/CpuResources.h"

namespace pcc::runtime {

namespace {
/// Executes one HostOp instruction (a rare op with a hand-written loop, such as
/// top_k). The descriptions of its operands are created once; each run only
/// changes their addresses.
class HostOperation : public Operation {
public:
  HostOperation(const LoadContext &context, const program::HostOpT &op,
                const HostOpRow &row)
      : context(context), op(op), row(row) {
    for (int32_t index : op.inputs)
      call.inputs.push_back(tensorOf(index));
    for (int32_t index : op.outputs)
      call.outputs.push_back(tensorOf(index));
    call.integers = op.integers;
    call.numbers = op.numbers;
  }

  /// Checks the instruction. Returns null if it is valid, otherwise a
  /// description of the fault.
  const char *prepare() { return row.prepare(call); }

  Status run(const RunContext &run) override {
    for (size_t i = 0; i < op.inputs.size(); ++i)
      call.inputs[i].data = context.buffers.at(op.inputs[i], run.microbatch);
    for (size_t i = 0; i < op.outputs.size(); ++i)
      call.outputs[i].data = context.buffers.at(op.outputs[i], run.microbatch);
    row.run(call);
    return Status::success();
  }

private:
  /// Returns a description of the buffer with index `index`: type, shape and a
  /// null address.
  HostOperand tensorOf(int32_t index) const {
    const program::BufferT &buffer = *context.program.buffers[index];
    return {typeOf(buffer.type), buffer.shape, nullptr};
  }

  LoadContext context;
  const program::HostOpT &op;
  const HostOpRow &row;
  HostOpCall call;
};
} // namespace

/// Returns the table row of the op with the name `name`, or null if there is
/// none.
static const HostOpRow *findRow(std::string_view name) {
  for (std::span<const HostOpRow> family :
       {sortingOps(), scanOps(), scatterOps(), expertOps()})
    for (const HostOpRow &row : family)
      if (row.name == name)
        return &row;
  return nullptr;
}

Status prepareHostOp(CpuResources &, const LoadContext &context,
                     const program::InstructionT &instruction,
                     std::unique_ptr<Operation> &operation) {
  const program::HostOpT &op = *instruction.body.AsHostOp();
  const HostOpRow *row = findRow(op.name);
  if (!row)
    return Status::error(Defect, "the cpu device has no op \"" + op.name +
                                     "\" (node \"" + instruction.node + "\")");
  auto prepared = std::make_unique<HostOperation>(context, op, *row);
  if (const char *fault = prepared->prepare())
    return Status::error(DamagedBundle, "op \"" + op.name + "\" of node \"" +
                                            instruction.node + "\" " + fault);
  operation = std::move(prepared);
  return Status::success();
}

} // namespace pcc::runtime
