//===- SignatureCheck.cpp - check of local arguments and results ----------===//

#include "passes/5-localize/SignatureCheck.h"
#include "dialects/dist/BriefText.h"
#include "dialects/graph/GraphDialect.h"
#include "sharding/ShardingText.h"

using namespace mlir;
using namespace pcc;

/// Returns the name of an argument or result with the attributes `attributes`,
/// in quotes, with a space in front; empty if it has none.
static std::string nameIn(DictionaryAttr attributes) {
  auto name = attributes.getAs<StringAttr>(graph::nameName);
  return name ? (" '" + name.getValue() + "'").str() : "";
}

/// Checks that a tensor of the type `type` with the attributes `attributes` is
/// a shard of its global tensor. `what` is "argument" or "result".
static LogicalResult checkPort(Location location, StringRef what, Type type,
                               DictionaryAttr attributes,
                               const dist::Mesh &mesh) {
  if (!attributes)
    return success();
  auto global = attributes.getAs<TypeAttr>(dist::globalName);
  auto sharding = attributes.getAs<dist::ShardingAttr>(dist::shardingName);
  auto tensor =
      global ? dyn_cast<RankedTensorType>(global.getValue()) : nullptr;
  if (!tensor || !sharding)
    return success();
  if (auto error = dist::findError(sharding.getSharding(), mesh,
                                   dist::shapeOf(tensor.getShape())))
    return emitError(location)
           << what << nameIn(attributes) << " is "
           << dist::toBriefString(sharding.getSharding(), mesh) << " of "
           << tensor << ": " << *error;
  auto local = dist::localType(tensor, sharding.getSharding());
  if (local != type)
    return emitError(location)
           << what << nameIn(attributes) << " is " << type << ", but "
           << dist::toBriefString(sharding.getSharding(), mesh) << " of "
           << tensor << " is " << local;
  return success();
}

/// Checks that the value which `returned` returns as the result `index` of
/// `function` has the sharding of the result.
static LogicalResult checkReturned(func::FuncOp function, Operation *returned,
                                   unsigned index) {
  auto marked = function.getResultAttrOfType<dist::ShardingAttr>(
      index, dist::shardingName);
  auto actual = dist::shardingOf(returned->getOperand(index));
  if (!marked || !actual ||
      dist::samePlacement(marked.getSharding(), actual.getSharding()))
    return success();
  InFlightDiagnostic error =
      emitError(function.getLoc())
      << "result" << nameIn(function.getResultAttrDict(index)) << " is marked "
      << dist::briefText(marked, function)
      << ", but the value that is returned has "
      << dist::briefText(actual, function);
  error.attachNote(returned->getOperand(index).getLoc())
      << "the value is computed here";
  return error;
}

LogicalResult pcc::localize::checkSignature(func::FuncOp function) {
  const dist::Mesh mesh = dist::meshOf(function->getParentOfType<ModuleOp>());
  for (BlockArgument argument : function.getArguments())
    if (failed(checkPort(argument.getLoc(), "argument", argument.getType(),
                         function.getArgAttrDict(argument.getArgNumber()),
                         mesh)))
      return failure();
  Operation *returned = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(checkPort(function.getLoc(), "result",
                         function.getResultTypes()[i],
                         function.getResultAttrDict(i), mesh)) ||
        failed(checkReturned(function, returned, i)))
      return failure();
  return success();
}
