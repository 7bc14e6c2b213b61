//===- Attention.cpp - attention by cuDNN ---------------------------------===//

#include "runtime/device/cuda/CudaResources.h"
#include "runtime/program/Program.h"

#include <algorithm>

namespace pcc::runtime {

/// Of F16 and BF16.
static constexpr int64_t bytesOfElement = 2;

static int64_t aligned(int64_t bytes) {
  constexpr int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

static int64_t elementsOf(const CudnnDims &dims) {
  return dims[0] * dims[1] * dims[2] * dims[3];
}

static CudnnDims stridesOf(const program::AttentionOperand &operand) {
  CudnnDims strides;
  for (size_t i = 0; i < strides.size(); ++i)
    strides[i] = operand.strides()->Get(uint32_t(i));
  return strides;
}

using OperandList =
    std::vector<std::pair<AttentionTensor, const program::AttentionOperand *>>;

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
  // Of gradients, this is scratch.
  shape.setStrides(AttentionTensor::Result,
                   denseCudnnStrides(shape.resultDims()));
  for (const auto &[tensor, operand] : operandsOf(attention))
    shape.setStrides(tensor, stridesOf(*operand));
  return shape;
}

static bool isWritten(AttentionTensor tensor) {
  return tensor == AttentionTensor::Result ||
         tensor == AttentionTensor::QueryGradient ||
         tensor == AttentionTensor::KeyGradient ||
         tensor == AttentionTensor::ValueGradient;
}

namespace {
/// What the operations have in common.
class AttentionOperation : public Operation {
public:
  /// So does cuDNN what cuBLASLt does.
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

  /// A tensor that only this operation has.
  void addScratch(AttentionTensor tensor, int64_t bytes) {
    inScratch.emplace_back(places.ids.size(), scratchBytes);
    scratchBytes += aligned(bytes);
    add(tensor, nullptr);
  }
  void reserve(int64_t workspaceBytes) {
    resources.reserve(scratchBytes + workspaceBytes);
  }

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
  void add(AttentionTensor tensor, void *data) {
    places.ids.push_back(int64_t(tensor));
    places.data.push_back(data);
  }

  CudaResources &resources;
  LoadContext context;
  OperandList operands;
  float scale, lowest, one = 1;
  CudnnAddresses places; ///< of the operands first
  /// Which of them are in scratch, and where.
  std::vector<std::pair<size_t, int64_t>> inScratch;
  int64_t scratchBytes = 0; ///< in front of the workspace
};

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

/// Makes the result again, for its statistics, and then the gradients.
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

/// What another operation does, too.
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
