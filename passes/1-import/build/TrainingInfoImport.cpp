//===- TrainingInfoImport.cpp - import of a model's ONNX TrainingInfo -----===//

#include "passes/1-import/build/TrainingInfoImport.h"
#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/onnx/inline/MergeTrainingInfo.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

void TrainingInfoImport::markWrittenWeights(Weights &weights) const {
  for (const onnx::MetadataEntry &binding : info.updateBinding)
    weights.markWritten(asRef(binding.key));
}

StringRef TrainingInfoImport::findLoss(Emitter &emitter) const {
  StringRef loss;
  for (const onnx::Node &node : model.graph.nodes) {
    const onnx::Attribute *y = node.attribute("y");
    if (node.opType != "Gradient" ||
        node.domain != "ai.onnx.preview.training" || !y)
      continue;
    if (!loss.empty() && loss != asRef(y->s))
      emitter.unsupported("differentiates '" + loss + "' and '" + asRef(y->s) +
                          "': training has one loss");
    loss = asRef(y->s);
  }
  if (loss.empty()) {
    emitter.unsupported("has no Gradient node");
    return {};
  }
  Value value = values.get(loss, emitter);
  if (value && (!isa<FloatType>(tensorType(value).getElementType()) ||
                tensorType(value).getNumElements() != 1))
    emitter.unsupported("differentiates '" + loss +
                        "', which is not one number");
  return loss;
}

ParameterOp TrainingInfoImport::parameterOf(StringRef name,
                                            Emitter &emitter) const {
  Value value = values.get(name, emitter);
  auto get = value ? value.getDefiningOp<GetParameterOp>() : nullptr;
  if (!get) {
    emitter.invalid("binds '" + name +
                    "', which is not an initializer that training writes");
    return nullptr;
  }
  return SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      module, get.getParameterAttr());
}

/// Creates a `graph.set_parameter`, which writes the value `binding.value` to
/// the weight `binding.key` at the end of a training step. Returns the new
/// value. Returns null, with an error in `emitter`, on failure.
Value TrainingInfoImport::write(const onnx::MetadataEntry &binding,
                                Emitter &emitter) const {
  ParameterOp parameter = parameterOf(asRef(binding.key), emitter);
  Value next = values.get(asRef(binding.value), emitter);
  if (!parameter || !next)
    return {};
  if (next.getType() != parameter.getType())
    return emitter.invalid("binds '" + asRef(binding.value) + "' to '" +
                           asRef(binding.key) +
                           "', which is of another type or shape");
  // The verifier of `graph.set_parameter` requires that the written parameter
  // has the attribute `fill` or `trained`.
  if (!parameter.getFill())
    parameter.setTrained(true);
  SetParameterOp::create(emitter.getBuilder(), emitter.getLoc(),
                         parameter.getSymName(), next);
  return next;
}

/// Makes the output `binding.value` of the TrainingInfo's graph
/// `initialization` the initial value of the weight `binding.key`. All elements
/// must be equal and known. Returns the SSA value of the output. Returns null,
/// with an error in `emitter`, on failure.
Value TrainingInfoImport::writeInitialValue(const onnx::MetadataEntry &binding,
                                            Emitter &emitter) const {
  ParameterOp parameter = parameterOf(asRef(binding.key), emitter);
  const std::string name = onnx::initializationName(binding.value);
  Value value = values.get(name, emitter);
  DenseElementsAttr first = value ? emitter.uniform(value) : nullptr;
  if (!parameter || !value)
    return {};
  if (!first)
    return emitter.unsupported("initializes '" + asRef(binding.key) +
                               "' with a tensor whose elements differ");
  // A `graph.parameter` cannot have both attributes, `weight` and `fill`.
  parameter.removeWeightAttr();
  parameter.setFillAttr(
      emitter.getBuilder().getF64FloatAttr(toDoubles(first).front()));
  return value;
}

void TrainingInfoImport::makeWrites(Emitter &emitter) const {
  for (const onnx::MetadataEntry &binding : info.initializationBinding)
    writeInitialValue(binding, emitter);
  for (const onnx::MetadataEntry &binding : info.updateBinding)
    write(binding, emitter);
}

} // namespace pcc::onnx_import
