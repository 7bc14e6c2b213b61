//===- Attention.cpp - attention instructions by cuDNN --------------------===//

#include "runtime/device/cuda/CudaResources.h"
#include "runtime/program/Program.h"

#include <algorithm>

namespace pcc::runtime {

/// Bytes of one element of type f16 or bf16, the types that cuDNN's attention
/// supports.
static constexpr int64_t bytesOfElement = 2;

/// Returns `bytes` rounded up to a multiple of 256.
static int64_t aligned(int64_t bytes) {
  constexpr int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Returns the number of elements of a tensor with the sizes `dims`.
static int64_t elementsOf(const CudnnDims &dims) {
  return dims[0] * dims[1] * dims[2] * dims[3];
}

/// Returns the strides, in elements, of an operand of an attention instruction.
static CudnnDims stridesOf(const program::AttentionOperand &operand) {
  CudnnDims strides;
  for (size_t i = 0; i < strides.size(); ++i)
    strides[i] = operand.strides()->Get(uint32_t(i));
  return strides;
}

/// The operands of an attention instruction. Each element is a pair: the id of
/// a tensor in the cuDNN graph, such as Query, and the operand. The operand has
/// the buffer, the offset and the strides of that tensor.
using OperandList =
    std::vector<std::pair<AttentionTensor, const program::AttentionOperand *>>;

/// Returns the operands of the attention instruction `attention`. They depend
/// on the part of the attention that the instruction computes:
///
/// - If `attention.part` is AttentionPart::Result, the instruction computes the
///   forward pass. The operands are the query, the key, the value and the
///   result.
/// - Otherwise the instruction belongs to the backward pass. The operands are
///   the query, the key, the value, the gradient of the result, and the
///   gradients of the query, the key and the value.
static OperandList operandsOf(const program::AttentionT &attention) {
  OperandList operands = {{AttentionTensor::Query, attention.query.get()},
                          {AttentionTensor::Key, attention.key.get()},
                          {AttentionTensor::Value, attention.value.get()}};
  if (attention.part == program::AttentionPart::Result)
    operands.emplace_back(AttentionTensor::Result, attention.result.get());
  else
    operands.insert(
        operands.end(),
        {{AttentionTensor::Gradient, attention.gradient.get()},
         {AttentionTensor::QueryGradient, attention.query_gradient.get()},
         {AttentionTensor::KeyGradient, attention.key_gradient.get()},
         {AttentionTensor::ValueGradient, attention.value_gradient.get()}});
  return operands;
}

/// Returns a description of the tensors that the attention instruction
/// `attention` reads and writes, such as the query and the key. The description
/// has the element type, the sizes and the strides of the tensors, and says
/// whether the attention is causal. `program` is the program that contains the
/// instruction.
static AttentionShape shapeOf(const program::ProgramT &program,
                              const program::AttentionT &attention) {
  const auto &query = *program.buffers[size_t(attention.query->buffer())];
  AttentionShape shape = {typeOf(query.type) == ElementType::BF16
                              ? CUDNN_DATA_BFLOAT16
                              : CUDNN_DATA_HALF,
                          attention.batch,
                          attention.heads,
                          attention.key_heads,
                          attention.queries,
                          attention.keys,
                          attention.depth,
                          attention.width,
                          attention.causal};
  // This statement sets the strides of the tensor Result, which is the output
  // of the forward pass. The strides are those of a dense row-major tensor.
  //
  // In the backward pass, Result is not an operand of the instruction. The
  // backward pass computes Result again, and writes Result to scratch memory as
  // a dense tensor. The strides that are set here are therefore right.
  //
  // In the forward pass, Result is an operand of the instruction, because the
  // operands include the outputs. The loop below then replaces the strides that
  // are set here by the strides of the operand.
  shape.setStrides(AttentionTensor::Result,
                   denseCudnnStrides(shape.resultDims()));
  for (const auto &[tensor, operand] : operandsOf(attention))
    shape.setStrides(tensor, stridesOf(*operand));
  return shape;
}

/// Returns whether `tensor` is an output of an attention instruction.
static bool isWritten(AttentionTensor tensor) {
  return tensor == AttentionTensor::Result ||
         tensor == AttentionTensor::QueryGradient ||
         tensor == AttentionTensor::KeyGradient ||
         tensor == AttentionTensor::ValueGradient;
}

namespace {
/// Base class of the operations that execute an attention instruction with
/// cuDNN. A subclass executes one or two plans (compiled cuDNN graphs).
class AttentionOperation : public Operation {
public:
  /// Executes the cuDNN graphs of this operation once before the first step. A
  /// step is one run of the program. cuDNN loads GPU code when it executes a
  /// graph for the first time. A load during a step could deadlock, so warmUp()
  /// causes the load before the first step.
  ///
  /// The execution writes meaningless values to the outputs of the operation.
  /// The execution must not overwrite a weight. This function therefore
  /// executes the graphs only if all outputs are in the arena, which is the
  /// memory of intermediate results. Otherwise the function does nothing.
  Status warmUp(const RunContext &run) override {
    for (const auto &[tensor, operand] : operands)
      if (isWritten(tensor) && !isInArena(context, operand->buffer()))
        return Status::success();
    return this->run(run);
  }

protected:
  AttentionOperation(CudaResources &resources, const LoadContext &context,
                     const program::AttentionT &attention)
      : resources(resources), context(context), operands(operandsOf(attention)),
        scale(float(attention.scale)), lowest(resources.attention().lowest()) {
    for (const auto &[tensor, operand] : operands)
      add(tensor, nullptr);
    add(AttentionTensor::Scale, &scale);
    add(AttentionTensor::Lowest, &lowest);
    add(AttentionTensor::One, &one);
  }

  /// Records that `tensor` is in scratch memory, which is temporary GPU memory.
  /// `bytes` is the size of the tensor. The tensors follow one another in the
  /// order of the calls, and each tensor begins at a multiple of 256 bytes. For
  /// example, if the first tensor has 300 bytes, the second tensor begins at
  /// byte 512.
  ///
  /// All calls must precede the call of reserve(), because reserve() requests
  /// the memory for all recorded tensors.
  void addScratch(AttentionTensor tensor, int64_t bytes) {
    inScratch.emplace_back(places.ids.size(), scratchBytes);
    scratchBytes += aligned(bytes);
    add(tensor, nullptr);
  }
  /// Requests the scratch memory (temporary GPU memory) of this operation. The
  /// memory has room for all tensors that addScratch() has recorded, and for a
  /// workspace of `workspaceBytes` bytes. The workspace is memory for cuDNN's
  /// own use. The workspace begins after the tensors.
  ///
  /// This function allocates nothing. All operations of the rank share one
  /// scratch memory, which is allocated later, with the size of the largest
  /// request.
  void reserve(int64_t workspaceBytes) {
    resources.reserve(scratchBytes + workspaceBytes);
  }

  /// Enqueues `plan`, which is a compiled cuDNN graph. Before this, sets the
  /// address in GPU memory of each tensor that the graph reads or writes. There
  /// are two kinds of tensors:
  ///
  /// - Operands of the attention instruction, such as the query and the key. A
  ///   buffer of the program contains the tensor. Each microbatch can have
  ///   memory of its own in a buffer. The function uses the memory of the
  ///   microbatch with the index `microbatch`.
  /// - Tensors for which the constructor has called addScratch(). They are in
  ///   scratch memory, which is temporary GPU memory.
  Status execute(const CudnnPlan &plan, int64_t microbatch) {
    char *scratch = resources.scratch();
    for (size_t i = 0; i < operands.size(); ++i) {
      const program::AttentionOperand &operand = *operands[i].second;
      places.data[i] = static_cast<char *>(
                           context.buffers.at(operand.buffer(), microbatch)) +
                       operand.offset() * bytesOfElement;
    }
    for (const auto &[place, offset] : inScratch)
      places.data[place] = scratch + offset;
    return resources.attention().run(plan, places, scratch + scratchBytes);
  }

private:
  /// Appends `tensor` to `places`, which has the id and the address of each
  /// tensor that cuDNN reads or writes. `data` is the address of the tensor if
  /// the address is already known and never changes. Otherwise `data` is null,
  /// and execute() sets the address before each execution. For example, the
  /// address of the query can be different for each microbatch, so the
  /// constructor passes null for the query.
  void add(AttentionTensor tensor, void *data) {
    places.ids.push_back(int64_t(tensor));
    places.data.push_back(data);
  }

  CudaResources &resources;
  LoadContext context;
  OperandList operands;
  /// Three numbers in host memory, which cuDNN reads in each execution:
  ///
  /// - `scale`: factor of the attention. The dot product of a query and a key
  ///   is multiplied by this factor. The product is called a score.
  /// - `lowest`: score of a query and a key if a causal mask hides the key from
  ///   the query. The number is minus infinity, or the lowest finite f32 number
  ///   for old versions of cuDNN.
  /// - `one`: the number 1. cuDNN multiplies an intermediate tensor by 1, and
  ///   stores the result in GPU memory.
  float scale, lowest, one = 1;
  /// Ids and addresses of the tensors that cuDNN reads or writes. The order is:
  ///
  /// - the operands of the attention instruction, in the order of the member
  ///   `operands`
  /// - the three numbers `scale`, `lowest` and `one`, which are in host memory
  /// - the tensors in scratch memory (temporary GPU memory), in the order of
  ///   the calls of addScratch()
  CudnnAddresses places;
  /// Places of the tensors in scratch memory, which is temporary GPU memory.
  /// There is one pair of numbers per tensor:
  ///
  /// - The first number is the index of the tensor in the vectors `places.ids`
  ///   and `places.data`.
  /// - The second number is the distance in bytes from the beginning of the
  ///   scratch memory to the tensor.
  std::vector<std::pair<size_t, int64_t>> inScratch;
  /// Total size in bytes of the tensors that addScratch() has placed in scratch
  /// memory. Scratch memory is temporary GPU memory. The size of each tensor is
  /// rounded up to a multiple of 256. The tensors are at the beginning of the
  /// scratch memory. The workspace, which is memory for cuDNN's own use, begins
  /// after the tensors. `scratchBytes` is therefore also the offset of the
  /// workspace.
  int64_t scratchBytes = 0;
};

/// The forward pass.
class ResultOperation : public AttentionOperation {
public:
  ResultOperation(CudaResources &resources, const LoadContext &context,
                  const program::AttentionT &attention, const CudnnPlan &plan)
      : AttentionOperation(resources, context, attention), plan(plan) {
    reserve(plan.workspaceBytes);
  }

  Status run(const RunContext &run) override {
    return execute(plan, run.microbatch);
  }

private:
  const CudnnPlan &plan;
};

/// Operation that computes the gradients of the query, the key and the value of
/// an attention. An operation is an object whose run() executes one instruction
/// of the program. This operation executes two compiled cuDNN graphs, one after
/// the other:
///
/// - The first graph computes the forward pass again. It writes the output of
///   the attention and the log-sum-exp of each query's scores to scratch memory
///   (temporary GPU memory).
/// - The second graph reads these two tensors, and computes the three
///   gradients.
class GradientsOperation : public AttentionOperation {
public:
  GradientsOperation(CudaResources &resources, const LoadContext &context,
                     const program::AttentionT &attention,
                     const AttentionShape &shape, const CudnnPlan &result,
                     const CudnnPlan &gradients)
      : AttentionOperation(resources, context, attention), result(result),
        gradients(gradients) {
    const int64_t bytesOfRows =
        elementsOf(shape.rowDims()) * int64_t(sizeof(float));
    addScratch(AttentionTensor::Result,
               elementsOf(shape.resultDims()) * bytesOfElement);
    addScratch(AttentionTensor::Statistics, bytesOfRows);
    addScratch(AttentionTensor::Sums, bytesOfRows);
    reserve(std::max(result.workspaceBytes, gradients.workspaceBytes));
  }

  Status run(const RunContext &run) override {
    Status status = execute(result, run.microbatch);
    return status.failed() ? status : execute(gradients, run.microbatch);
  }

private:
  const CudnnPlan &result, &gradients;
};

/// Operation that executes nothing. A program computes the gradients of an
/// attention with two instructions. The first instruction is for the gradient
/// of the query. The second instruction is for the gradients of the key and the
/// value. The operation of the second instruction computes all three gradients
/// with cuDNN. The first instruction therefore has nothing to do, and its
/// operation is a FusedElsewhere.
class FusedElsewhere : public Operation {
public:
  Status run(const RunContext &) override { return Status::success(); }
};
} // namespace

std::unique_ptr<Operation>
prepareAttention(CudaResources &resources, const LoadContext &context,
                 const program::AttentionT &attention) {
  CudnnAttention &dnn = resources.useCudnn();
  const AttentionShape shape = shapeOf(context.program, attention);
  if (attention.part == program::AttentionPart::Result) {
    const CudnnPlan *plan = dnn.findResult(shape, /*withStatistics=*/false);
    return plan ? std::make_unique<ResultOperation>(resources, context,
                                                    attention, *plan)
                : nullptr;
  }
  const CudnnPlan *result = dnn.findResult(shape, /*withStatistics=*/true);
  const CudnnPlan *gradients = result ? dnn.findGradients(shape) : nullptr;
  if (!gradients)
    return nullptr;
  if (attention.part == program::AttentionPart::QueryGradient)
    return std::make_unique<FusedElsewhere>();
  return std::make_unique<GradientsOperation>(resources, context, attention,
                                              shape, *result, *gradients);
}

} // namespace pcc::runtime
