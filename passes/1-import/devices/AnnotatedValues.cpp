//===- AnnotatedValues.cpp - annotations in the IR ------------------------===//

#include "passes/1-import/devices/AnnotatedValues.h"
#include "dialects/dist/DistDialect.h"
#include "passes/1-import/build/Locations.h"

using namespace mlir;

namespace pcc::ingest {

static StringRef asRef(std::string_view text) { return Values::asRef(text); }

static dist::Shape sizesOf(Value value) {
  return dist::shapeOf(graph::tensorType(value).getShape());
}

Value AnnotatedValues::pin(const onnx::Node &node, Value value,
                           std::string_view name,
                           const dist::Sharding &sharding) {
  MLIRContext *context = builder.getContext();
  return dist::PinOp::create(builder, locationOf(node, context), value,
                             dist::ShardingAttr::get(context, sharding),
                             builder.getStringAttr(asRef(name)));
}

bool AnnotatedValues::pinOperand(const onnx::Node &node, std::string_view name,
                                 Emitter &emitter) {
  Value value = values.lookup(asRef(name));
  const onnx::Tensor *tensor = values.initializer(asRef(name));
  if (!value && !tensor)
    return true;
  const dist::Shape shape = value ? sizesOf(value) : dist::Shape(tensor->dims);
  Annotations::Asked atDefinition, atUse;
  if (!annotations.atDefinition(name, shape, atDefinition, error) ||
      !annotations.atUse(node, name, shape, atUse, error))
    return false;
  // Inputs, weights and results lie as asked for where they are made; constants
  // have no such place, so each use has a pin.
  const bool isConstant =
      value ? isa_and_present<graph::ConstantOp>(value.getDefiningOp())
            : !values.weights.becomesParameter(*tensor);
  const Annotations::Asked &asked = atUse || !isConstant ? atUse : atDefinition;
  const bool isMet =
      !asked ||
      (isConstant ? dist::isReplicated(*asked)
                  : atDefinition && dist::samePlacement(*asked, *atDefinition));
  if (isMet)
    return true;
  value = values.get(asRef(name), emitter);
  if (!value)
    return true;
  unpinned.push_back({name, value});
  values.replace(asRef(name), pin(node, value, name, *asked));
  return true;
}

bool AnnotatedValues::pinOperands(const onnx::Node &node, Emitter &emitter) {
  for (std::string_view name : node.inputs)
    if (annotations.speaksOf(name) && !pinOperand(node, name, emitter))
      return false;
  return true;
}

bool AnnotatedValues::pinResult(const onnx::Node &node, std::string_view name) {
  Value value = values.lookup(asRef(name));
  if (!value)
    return true;
  Annotations::Asked asked;
  if (!annotations.atDefinition(name, sizesOf(value), asked, error))
    return false;
  const bool isMet = asked && value.getDefiningOp<graph::ConstantOp>() &&
                     dist::isReplicated(*asked);
  if (asked && !isMet)
    values.replace(asRef(name), pin(node, value, name, *asked));
  return true;
}

bool AnnotatedValues::pinResults(const onnx::Node &node) {
  for (auto [name, value] : llvm::reverse(unpinned))
    values.replace(asRef(name), value);
  unpinned.clear();
  for (std::string_view name : node.outputs)
    if (annotations.speaksOf(name) && !pinResult(node, name))
      return false;
  return true;
}

bool AnnotatedValues::markInput(func::FuncOp function, unsigned input,
                                std::string_view name) {
  Annotations::Asked asked;
  if (!annotations.atDefinition(name, sizesOf(function.getArgument(input)),
                                asked, error))
    return false;
  if (asked)
    function.setArgAttr(input, dist::shardingName,
                        dist::ShardingAttr::get(builder.getContext(), *asked));
  return true;
}

bool AnnotatedValues::markOutput(func::FuncOp function, unsigned output,
                                 std::string_view name) {
  Annotations::Asked asked;
  auto type = cast<RankedTensorType>(function.getResultTypes()[output]);
  if (!annotations.atOutput(name, dist::shapeOf(type.getShape()), asked, error))
    return false;
  if (asked)
    function.setResultAttr(
        output, dist::shardingName,
        dist::ShardingAttr::get(builder.getContext(), *asked));
  return true;
}

bool AnnotatedValues::markWeights(ModuleOp module) {
  for (auto parameter : module.getOps<graph::ParameterOp>()) {
    StringRef name = parameter.getSymName();
    auto type = cast<RankedTensorType>(parameter.getType());
    Annotations::Asked asked;
    if (!annotations.atDefinition({name.data(), name.size()},
                                  dist::shapeOf(type.getShape()), asked, error))
      return false;
    if (asked)
      parameter->setAttr(dist::shardingName,
                         dist::ShardingAttr::get(module.getContext(), *asked));
  }
  return true;
}

} // namespace pcc::ingest
