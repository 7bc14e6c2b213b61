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

/// Creates a `graph.set_parameter`, an op that writes a new value to a weight
/// at the end of a training step. `binding.key` is the ONNX name of the weight,
/// and `binding.value` is the ONNX name of the new value. Returns the new
/// value. Returns null, with an error in `emitter`, in each of these cases:
///
///  - There is no weight with the name `binding.key`.
///  - There is no value with the name `binding.value`.
///  - The weight and the value have different types.
///
/// The weight is declared by an op `graph.parameter`. The verifier of
/// `graph.set_parameter` accepts the written weight only if the
/// `graph.parameter` has at least one of these attributes:
///
///   trained   a unit attribute that marks a weight that training changes
///   fill      a number, the initial value of all elements of the weight
///
/// If the `graph.parameter` has no `fill`, the function adds the attribute
/// `trained`. The verifier then accepts the weight.
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
  if (!parameter.getFill())
    parameter.setTrained(true);
  SetParameterOp::create(emitter.getBuilder(), emitter.getLoc(),
                         parameter.getSymName(), next);
  return next;
}

/// Stores the initial value of a weight. A weight is declared by an op
/// `graph.parameter`. The graph `initialization` of the TrainingInfo computes
/// initial values of weights. `binding` is one entry of the list
/// initialization_binding of the TrainingInfo. The entry has two names:
///
///   binding.key     name of the weight
///   binding.value   name of an output of the graph `initialization`
///
/// The output is the initial value of the weight. The function stores the
/// initial value in the attribute `fill` of the `graph.parameter`. The
/// attribute `fill` is a single number, the initial value of all elements. For
/// example, if the output is a tensor of zeros, the function sets `fill` to 0.
///
/// The function also removes the attribute `weight` of the `graph.parameter`.
/// The attribute `weight` states where a file has the elements of the weight. A
/// `graph.parameter` with the attribute `fill` must not have the attribute
/// `weight`.
///
/// Returns the SSA value of the output. Records an error in `emitter` and
/// returns null in each of these cases:
///
///  - There is no weight with the name `binding.key`.
///  - There is no output with the name `binding.value`.
///  - The elements of the output are not known at compile time.
///  - The elements of the output are not all equal.
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
