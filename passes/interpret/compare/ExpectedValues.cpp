//===- ExpectedValues.cpp - all values of the unpartitioned model ---------===//

#include "passes/interpret/compare/ExpectedValues.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/interpret/compare/Accuracy.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

StringRef interpret::nameOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto collective = dyn_cast_or_null<dist::CollectiveOp>(op))
    op = collective.getInput().getDefiningOp();
  auto name =
      op ? op->getAttrOfType<StringAttr>(graph::nameName) : StringAttr();
  return name ? name.getValue() : StringRef();
}

ExpectedValues::ExpectedValues(ModuleOp whole, const Inputs &inputs,
                               graph::Numerics numerics, int numSamples)
    : whole(whole), model(whole.lookupSymbol<func::FuncOp>("main")),
      inputs(inputs), numerics(numerics) {
  for (int seed = 1; seed <= numSamples; ++seed)
    samples.push_back({RandomRounding(seed, numerics), {}});
}

ArrayRef<const ExpectedValue *> ExpectedValues::at(StringRef place) const {
  auto found = byPlace.find(place);
  if (keptBytes > maxKeptBytes || found == byPlace.end())
    return {};
  return found->second;
}

void ExpectedValues::keep(OpResult result, const RankTensors &tensors) {
  const StringRef name = nameOf(result);
  const std::string place = graph::placeText(result.getLoc());
  const TensorPointer &tensor = tensors.front();
  if (!place.empty())
    keptBytes += tensor->numElements() * static_cast<int64_t>(sizeof(double));
  const bool isOfPlace = !place.empty() && keptBytes <= maxKeptBytes;
  if (name.empty() && !isOfPlace)
    return;
  values.push_back({tensor, 0, result.getOwner()->getName().getStringRef(),
                    largestMagnitude(*tensor)});
  byValue[result] = &values.back();
  if (!name.empty())
    byName[name] = &values.back();
  if (isOfPlace)
    byPlace[place].push_back(&values.back());
}

double ExpectedValues::noiseOf(Value value) const {
  const ExpectedValue *kept = byValue.lookup(value);
  return kept ? kept->noise : 0;
}

Status ExpectedValues::measureNoise() {
  for (Sample &sample : samples) {
    const auto compare = [this](OpResult result, const RankTensors &tensors) {
      if (ExpectedValue *kept = byValue.lookup(result))
        kept->noise = std::max(
            kept->noise,
            lossOfRanks * largestDifference(*kept->tensor, *tensors.front()));
    };
    PCC_RETURN_IF_ERROR(runUnpartitioned(whole, inputs, numerics, compare,
                                         &sample.parameters, &sample.rounding)
                            .status());
  }
  return Status::success();
}

void ExpectedValues::keepResults(ArrayRef<TensorPointer> results) {
  Operation *end = model.front().getTerminator();
  for (auto [i, tensor] : llvm::enumerate(results))
    if (auto name = model.getResultAttrOfType<StringAttr>(i, graph::nameName))
      outputs[name.getValue()] = {tensor, noiseOf(end->getOperand(i)), {}};
  for (auto set : model.getOps<graph::SetParameterOp>()) {
    auto found = parameters.find(set.getParameter().str());
    if (found != parameters.end())
      writes[set.getParameter()] = {found->second, noiseOf(set.getValue()), {}};
  }
}

Status ExpectedValues::runStep() {
  values.clear();
  byValue.clear();
  byName.clear();
  byPlace.clear();
  keptBytes = 0;
  const auto keepResult = [this](OpResult result, const RankTensors &tensors) {
    keep(result, tensors);
  };
  PCC_ASSIGN_OR_RETURN(
      const std::vector<TensorPointer> results,
      runUnpartitioned(whole, inputs, numerics, keepResult, &parameters));
  PCC_RETURN_IF_ERROR(measureNoise());
  keepResults(results);
  return Status::success();
}
