//===- RewriteFunctions.cpp - rewrites of graph ops as plain functions ----===//

#include "passes/2-prepare/match/RewriteFunctions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::graph;

std::optional<double> prepare::uniformValue(Value value) {
  if (auto broadcast = definedBy<BroadcastOp>(value))
    return uniformValue(broadcast.getInput());
  if (auto reshape = definedBy<ReshapeOp>(value))
    return uniformValue(reshape.getInput());
  auto constant = definedBy<ConstantOp>(value);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat() || dense.empty())
    return {};
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  if (!dense.getElementType().isIntOrIndex())
    return {};
  APInt number = dense.getSplatValue<APInt>();
  bool isUnsigned = dense.getElementType().isInteger(1) ||
                    dense.getElementType().isUnsignedInteger();
  return number.roundToDouble(!isUnsigned);
}

bool prepare::isUniform(Value value, double number) {
  auto found = uniformValue(value);
  return found && *found == number;
}

Value prepare::makeScalar(OpBuilder &builder, Location loc, Type elementType,
                          double number) {
  Attribute attr =
      isa<FloatType>(elementType)
          ? Attribute(builder.getFloatAttr(elementType, number))
          : IntegerAttr::get(
                elementType,
                APInt(elementType.getIntOrFloatBitWidth(),
                      static_cast<uint64_t>(static_cast<int64_t>(number)),
                      /*isSigned=*/true, /*implicitTrunc=*/true));
  auto type = RankedTensorType::get({}, elementType);
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, attr));
}

Value prepare::otherOperand(Operation *op,
                            llvm::function_ref<bool(Value)> accepts) {
  if (accepts(op->getOperand(1)))
    return op->getOperand(0);
  return accepts(op->getOperand(0)) ? op->getOperand(1) : Value();
}

LogicalResult prepare::replaceNamed(Operation *op, Value value,
                                    RewriterBase &rewriter) {
  if (value.getType() != op->getResult(0).getType())
    return failure();
  Operation *source = value.getDefiningOp();
  bool canTakeName = source && source->getNumResults() == 1 &&
                     !source->hasAttr(graph::nameName) &&
                     !isa<GetParameterOp>(source);
  if (op->hasAttr(graph::pinnedName) && !canTakeName)
    return failure();
  if (canTakeName && !isa<ConstantOp>(source))
    rewriter.modifyOpInPlace(source, [&] {
      for (StringRef name : {graph::nameName, graph::pinnedName})
        if (Attribute attribute = op->getAttr(name))
          source->setAttr(name, attribute);
    });
  rewriter.replaceOp(op, value);
  return success();
}
