//===- DnnlCall.cpp - execution of a oneDNN primitive on buffers ----------===//

#include "runtime/device/cpu/DnnlCall.h"
#include "runtime/base/Exhaustion.h"
#include "status/Counted.h"

#include <string_view>
#include <unordered_map>

namespace pcc::runtime {

using dnnl::memory;

std::optional<memory::data_type> dnnlTypeOf(ElementType type) {
  if (type == ElementType::F32)
    return memory::data_type::f32;
  if (type == ElementType::BF16)
    return memory::data_type::bf16;
  return std::nullopt;
}

void appendActivation(dnnl::post_ops &ops, program::Activation activation) {
  struct EltwiseRow {
    dnnl::algorithm algorithm;
    float alpha;
  };
  // Each row contains oneDNN's algorithm of an activation, and the parameter
  // alpha of the algorithm. swish is x * sigmoid(alpha * x). relu multiplies
  // negative elements by alpha. The other four algorithms ignore alpha.
  //
  // The rows are in the order of the enumerators of program::Activation.
  // Enumerator 0 (None) has no row, so enumerator 1 (Relu) has row 0.
  static constexpr EltwiseRow rows[] = {{dnnl::algorithm::eltwise_relu, 0},
                                        {dnnl::algorithm::eltwise_gelu_erf, 0},
                                        {dnnl::algorithm::eltwise_gelu_tanh, 0},
                                        {dnnl::algorithm::eltwise_logistic, 0},
                                        {dnnl::algorithm::eltwise_tanh, 0},
                                        {dnnl::algorithm::eltwise_swish, 1}};
  if (activation == program::Activation::None)
    return;
  const EltwiseRow &row = rows[size_t(activation) - 1];
  ops.append_eltwise(1.0f, row.algorithm, row.alpha, 0.0f);
}

dnnl::primitive_attr attributes(const dnnl::post_ops &ops) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(ops);
  return attributes;
}

bool isReference(const char *implementation) {
  return std::string_view(implementation).starts_with("ref");
}

AlignedMemory allocateAligned(size_t bytes) {
  const size_t rounded =
      (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  return {std::aligned_alloc(kAlignment, rounded), &std::free};
}

bool mayPack(const LoadContext &context, int32_t index) {
  const program::BufferT &buffer = *context.program.buffers[index];
  if (buffer.memory != program::Memory::Parameter || buffer.offset != 0 ||
      buffer.slots != 1)
    return false;
  const program::ParameterT &parameter =
      *context.program.parameters[buffer.index];
  return !parameter.trainable && buffer.bytes == parameter.local_bytes &&
         context.parameters.isExclusive(buffer.index);
}

/// Prepares a weight for a oneDNN primitive, which reads the weight in the
/// memory format `wanted`. The program's buffer with index `buffer` contains
/// the weight in the memory format `plain`. The function stores in `weight`
/// the place from which the primitive reads the weight. There are two cases:
///
/// - The two formats are equal. The weight stays in the program's buffer.
/// - The two formats differ. The function allocates the memory `weight.packed`,
///   copies the weight to this memory, and converts the copy to the format
///   `wanted`. The function then frees the original weight.
Status makeWeight(CpuResources &resources, const LoadContext &context,
                  int32_t buffer, const memory::desc &plain,
                  const memory::desc &wanted, WeightOperand &weight) {
  weight.desc = wanted;
  weight.buffer = buffer;
  if (wanted == plain)
    return Status::success();
  const int32_t parameter = context.program.buffers[buffer]->index;
  const void *data = nullptr;
  PCC_RETURN_IF_ERROR(context.parameters.acquire(parameter, data));
  weight.packed = allocateAligned(wanted.get_size());
  if (!weight.packed)
    return Status::error(NoDevice, "out of memory: no " +
                                       counted(wanted.get_size(), "byte") +
                                       " for a weight");
  memory from(plain, resources.engine(), const_cast<void *>(data));
  memory to(wanted, resources.engine(), weight.packed.get());
  dnnl::reorder(from, to).execute(resources.stream(), from, to);
  resources.stream().wait();
  context.parameters.drop(parameter);
  weight.buffer = -1;
  return Status::success();
}

void DnnlCall::add(int argument, const memory::desc &desc, void *data,
                   int32_t buffer, bool isScratch, size_t offset) {
  operands.push_back(
      {memory(desc, resources.engine(), data), buffer, isScratch, offset});
  arguments.push_back({argument, operands.back().memory.get()});
}

void DnnlCall::addBuffer(int argument, const memory::desc &desc, int32_t buffer,
                         size_t offset) {
  add(argument, desc, nullptr, buffer, false, offset);
}

void DnnlCall::addFixed(int argument, const memory::desc &desc, void *data) {
  add(argument, desc, data, -1, false, 0);
}

void DnnlCall::addScratch(int argument, const memory::desc &desc,
                          size_t offset) {
  resources.reserveScratch(offset + desc.get_size());
  add(argument, desc, nullptr, -1, true, offset);
}

void DnnlCall::addWeight(int argument, const WeightOperand &weight) {
  if (weight.packed)
    addFixed(argument, weight.desc, weight.packed.get());
  else
    addBuffer(argument, weight.desc, weight.buffer, weight.offset);
}

void DnnlCall::finish(const dnnl::primitive &created,
                      const memory::desc &scratchpad, size_t scratchpadOffset) {
  primitive = created;
  if (scratchpad.get_size() > 0)
    addScratch(DNNL_ARG_SCRATCHPAD, scratchpad, scratchpadOffset);
}

/// Sets the address of each operand, and executes the oneDNN primitive. An
/// operand can be in one of three places:
///
/// - The operand is in a buffer of the program. The address of the buffer
///   depends on the microbatch. This function sets the address in each run.
/// - The operand is in the scratch memory, which is memory for temporary data.
///   This function sets the address in each run.
/// - The operand is in memory with a fixed address. oneDNN already knows the
///   address.
///
/// The function calls oneDNN's C interface. oneDNN's C++ interface would
/// allocate memory in each run.
Status DnnlCall::run(const BufferTable &buffers, int64_t microbatch) {
  for (CallOperand &operand : operands) {
    void *base = nullptr;
    if (operand.buffer >= 0)
      base = buffers.at(operand.buffer, microbatch);
    else if (operand.isScratch)
      base = resources.scratch();
    else
      continue;
    dnnl_memory_set_data_handle(operand.memory.get(),
                                static_cast<char *>(base) + operand.offset);
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), resources.stream().get(),
                             int(arguments.size()), arguments.data());
  if (status == dnnl_out_of_memory)
    return outOfMemory();
  if (status != dnnl_success)
    return Status::error(Defect, "oneDNN failed with status " +
                                     std::to_string(int(status)));
  return Status::success();
}

} // namespace pcc::runtime
