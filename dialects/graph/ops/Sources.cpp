//===- Sources.cpp - checks of parameters, constants and iota -------------===//

#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc::graph;

/// Checks that a weight has the declared type after its transforms. A parameter
/// has a weight or a fill value, not both.
LogicalResult ParameterOp::verify() {
  WeightAttr weight = getWeightAttr();
  if (weight && getFill())
    return emitOpError("has a weight and is filled as well");
  if (!weight)
    return success();
  RankedTensorType type = weight.getTransformedType();
  if (!type)
    return emitOpError(
               "has a weight whose transforms do not fit its stored type ")
           << weight.getStored();
  if (type != getType())
    return emitOpError("declares ")
           << getType() << ", but its weight gives " << type;
  return success();
}

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr()))
    return emitOpError("reads @")
           << getParameter() << ", which no graph.parameter declares";
  return success();
}

/// Checks that the parameter may be written: it is trained, or a state, which
/// begins with a fill value.
LogicalResult SetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("writes @")
           << getParameter() << ", which no graph.parameter declares";
  if (!parameter.getTrained() && !parameter.getFill())
    return emitOpError("writes @")
           << getParameter() << ", which is neither trained nor a state";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult IotaOp::verify() {
  int64_t rank = tensorType(getResult()).getRank();
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= rank)
    return emitOpError("counts along dim ")
           << getDim() << " of a result of rank " << rank;
  return success();
}
