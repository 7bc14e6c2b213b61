//===- AnnotationImport.cpp - sharding annotations as IR ------------------===//

#include "passes/1-import/devices/AnnotationImport.h"
#include "dialects/dist/DistDialect.h"
#include "passes/1-import/build/Locations.h"

using namespace mlir;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

static dist::Shape sizesOf(Value value) {
  return dist::shapeOf(graph::tensorType(value).getShape());
}

Value AnnotationImport::pin(const onnx::Node &node, Value value,
                            std::string_view name,
                            const dist::Sharding &sharding) {
  MLIRContext *context = builder.getContext();
  return dist::PinOp::create(builder, locationOf(node, context), value,
                             dist::ShardingAttr::get(context, sharding),
                             builder.getStringAttr(asRef(name)));
}

/// Creates a `dist.pin` (sharding constraint) for the operand `name` of `node`,
/// if the model's annotations give it a sharding that it does not yet have.
/// Creates an SSA value for an initializer only if it needs a `dist.pin`.
Status AnnotationImport::pinOperand(const onnx::Node &node,
                                    std::string_view name, Emitter &emitter) {
  Value value = values.lookup(asRef(name));
  const onnx::Tensor *tensor = values.initializer(asRef(name));
  if (!value && !tensor)
    return Status::success();
  const dist::Shape shape = value ? sizesOf(value) : dist::Shape(tensor->dims);
  ShardingAnnotations::RequestedSharding shardingAtDefinition, shardingAtUse;
  PCC_RETURN_IF_ERROR(
      annotations.shardingAtDefinition(name, shape, shardingAtDefinition));
  PCC_RETURN_IF_ERROR(
      annotations.shardingAtUse(node, name, shape, shardingAtUse));
  // Decide whether the value needs a `dist.pin` (sharding constraint). A
  // constant is replicated, so it needs a `dist.pin` only if annotations split
  // it. Any other value already has the sharding `shardingAtDefinition`, so it
  // needs a `dist.pin` only if `shardingAtUse` is different.
  const bool isConstant =
      value ? isa_and_present<graph::ConstantOp>(value.getDefiningOp())
            : !values.weights.becomesParameter(*tensor);
  const ShardingAnnotations::RequestedSharding &asked =
      shardingAtUse || !isConstant ? shardingAtUse : shardingAtDefinition;
  const bool isMet =
      !asked ||
      (isConstant ? dist::isReplicated(*asked)
                  : shardingAtDefinition &&
                        dist::samePlacement(*asked, *shardingAtDefinition));
  if (isMet)
    return Status::success();
  value = values.get(asRef(name), emitter);
  if (!value)
    return Status::success();
  unpinned.push_back({name, value});
  values.replace(asRef(name), pin(node, value, name, *asked));
  return Status::success();
}

Status AnnotationImport::pinOperands(const onnx::Node &node, Emitter &emitter) {
  for (std::string_view name : node.inputs)
    if (annotations.isAnnotated(name))
      PCC_RETURN_IF_ERROR(pinOperand(node, name, emitter));
  return Status::success();
}

Status AnnotationImport::pinResult(const onnx::Node &node,
                                   std::string_view name) {
  Value value = values.lookup(asRef(name));
  if (!value)
    return Status::success();
  ShardingAnnotations::RequestedSharding asked;
  PCC_RETURN_IF_ERROR(
      annotations.shardingAtDefinition(name, sizesOf(value), asked));
  // Each device holds a whole constant anyway. If annotations replicate a
  // constant, it needs no `dist.pin` (sharding constraint).
  const bool isMet = asked && value.getDefiningOp<graph::ConstantOp>() &&
                     dist::isReplicated(*asked);
  if (asked && !isMet)
    values.replace(asRef(name), pin(node, value, name, *asked));
  return Status::success();
}

Status AnnotationImport::pinResults(const onnx::Node &node) {
  for (auto [name, value] : llvm::reverse(unpinned))
    values.replace(asRef(name), value);
  unpinned.clear();
  for (std::string_view name : node.outputs)
    if (annotations.isAnnotated(name))
      PCC_RETURN_IF_ERROR(pinResult(node, name));
  return Status::success();
}

Status AnnotationImport::markInput(func::FuncOp function, unsigned input,
                                   std::string_view name,
                                   graph::SignatureAttrs &attributes) {
  ShardingAnnotations::RequestedSharding asked;
  PCC_RETURN_IF_ERROR(annotations.shardingAtDefinition(
      name, sizesOf(function.getArgument(input)), asked));
  if (asked)
    attributes.setArg(input, dist::shardingName,
                      dist::ShardingAttr::get(builder.getContext(), *asked));
  return Status::success();
}

Status AnnotationImport::markOutput(func::FuncOp function, unsigned output,
                                    std::string_view name,
                                    graph::SignatureAttrs &attributes) {
  ShardingAnnotations::RequestedSharding asked;
  auto type = cast<RankedTensorType>(function.getResultTypes()[output]);
  PCC_RETURN_IF_ERROR(annotations.shardingAtOutput(
      name, dist::shapeOf(type.getShape()), asked));
  if (asked)
    attributes.setResult(output, dist::shardingName,
                         dist::ShardingAttr::get(builder.getContext(), *asked));
  return Status::success();
}

Status AnnotationImport::markWeights(ModuleOp module) {
  for (auto parameter : module.getOps<graph::ParameterOp>()) {
    StringRef name = parameter.getSymName();
    auto type = cast<RankedTensorType>(parameter.getType());
    ShardingAnnotations::RequestedSharding asked;
    PCC_RETURN_IF_ERROR(annotations.shardingAtDefinition(
        {name.data(), name.size()}, dist::shapeOf(type.getShape()), asked));
    if (asked)
      parameter->setAttr(dist::shardingName,
                         dist::ShardingAttr::get(module.getContext(), *asked));
  }
  return Status::success();
}

} // namespace pcc::onnx_import
