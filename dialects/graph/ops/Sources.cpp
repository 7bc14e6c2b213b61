//===- Sources.cpp - checks of parameters, constants and iota -------------===//

#include "dialects/graph/GraphDialect.h"

using namespace mlir;
using namespace pcc::graph;

/// Verifies a parameter op. If the parameter has a weight, the weight must have
/// the declared type after its transforms (permute, slice, reshape, cast). The
/// parameter must not have both a weight and a fill value.
LogicalResult ParameterOp::verify() {
  WeightAttr weight = getWeightAttr();
  if (weight && getFill())
    return emitOpError("has both a weight and a fill value");
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

/// Verifies that the op may write its parameter. Only trainable parameters and
/// states may be written. A state is a parameter that starts with a fill value.
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
