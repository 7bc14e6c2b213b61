//===- TrainingRequest.cpp - training options of a module -----------------===//

#include "passes/2-prepare/training/TrainingRequest.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

Location pcc::prepare::locationOf(StringRef part, Location model) {
  return NameLoc::get(StringAttr::get(model.getContext(), part), model);
}

std::optional<TrainingRequest> TrainingRequest::of(ModuleOp module) {
  if (auto entries =
          module->getAttrOfType<DictionaryAttr>(pcc::graph::trainingName))
    return TrainingRequest(entries);
  return std::nullopt;
}

StringRef TrainingRequest::text(StringRef entry) const {
  auto found = entries.getAs<StringAttr>(entry);
  return found ? found.getValue() : StringRef();
}

std::optional<double> TrainingRequest::number(StringRef entry) const {
  if (auto found = entries.getAs<FloatAttr>(entry))
    return found.getValueAsDouble();
  return std::nullopt;
}

SmallVector<StringRef> TrainingRequest::list(StringRef entry) const {
  SmallVector<StringRef> texts;
  if (auto found = entries.getAs<ArrayAttr>(entry))
    for (auto text : found.getAsRange<StringAttr>())
      texts.push_back(text.getValue());
  return texts;
}

bool TrainingRequest::matches(StringRef entry, StringRef name) const {
  return llvm::any_of(list(entry), [&](StringRef text) {
    return dist::matchesName(text, name);
  });
}

/// Returns whether `parameter` is trained if the user does not give the option
/// --train-only. The parameter must be a float tensor with at least one
/// element. It must not be marked as a buffer. A buffer is a tensor such as the
/// running statistics of a batch normalization.
static bool trainsByDefault(pcc::graph::ParameterOp parameter) {
  auto type = cast<RankedTensorType>(parameter.getType());
  return isa<FloatType>(type.getElementType()) && type.getNumElements() > 0 &&
         !parameter.getBuffer();
}

bool TrainingRequest::trains(graph::ParameterOp parameter) const {
  StringRef name = parameter.getSymName();
  const bool isAsked = list("train_only").empty() ? trainsByDefault(parameter)
                                                  : matches("train_only", name);
  return isAsked && !matches("freeze", name);
}
