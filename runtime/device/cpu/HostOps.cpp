//===- HostOps.cpp - table of ops that the CPU device runs by name --------===//

#include "runtime/device/cpu/HostOps.h"
#include "runtime/device/cpu/CpuResources.h"

namespace pcc::runtime {

namespace {
/// Executes one instruction of the kind HostOp. A HostOp is an op that models
/// rarely use, such as top_k, and that is implemented by a C++ loop.
///
/// The constructor stores the element type and the shape of each operand in
/// `call`. The address of an operand depends on the microbatch. run() therefore
/// stores the addresses in `call` before it executes the op.
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

  /// Checks the types, shapes and attributes of the op, and allocates the op's
  /// workspace (memory for intermediate results). Must be called before run().
  /// Returns null if the op can be executed. Otherwise returns the reason why
  /// the op cannot be executed, such as "needs one input".
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
  /// Returns the operand that the program's buffer with index `index` contains.
  /// The returned object has the element type and the shape of the operand. Its
  /// address is null, because the address depends on the microbatch. run() sets
  /// the address.
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

/// Searches the tables of host ops for the op with the name `name`, such as
/// "top_k". A host op is an op that models rarely use, and that is implemented
/// by a C++ loop. Each row of the tables contains the name of one op, and the
/// two functions that check and execute the op. Returns the address of the row,
/// or null if the tables have no op with this name.
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
    return Status::error(Defect, "the cpu device has no op '" + op.name +
                                     "' (node '" + instruction.node + "')");
  auto prepared = std::make_unique<HostOperation>(context, op, *row);
  if (const char *fault = prepared->prepare())
    return Status::error(DamagedBundle, "op '" + op.name + "' of node '" +
                                            instruction.node + "' " + fault);
  operation = std::move(prepared);
  return Status::success();
}

} // namespace pcc::runtime
