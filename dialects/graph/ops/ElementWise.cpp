//===- ElementWise.cpp - result types of element-wise ops -----------------===//

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

/// Infers the result type of an element-wise op: the broadcast of the operands'
/// shapes, with elements of `elementType`. Fails if the shapes do not
/// broadcast.
static LogicalResult inferBroadcast(std::optional<Location> loc,
                                    ValueRange operands, Type elementType,
                                    SmallVectorImpl<Type> &results) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    auto next = broadcastShapes(shape, tensorType(operand).getShape());
    if (failed(next))
      return emitOptionalError(
          loc, "operands do not broadcast: ", operands.front().getType(),
          " and ", operand.getType());
    shape = *next;
  }
  results.push_back(RankedTensorType::get(shape, elementType));
  return success();
}

static Type elementTypeOf(Value value) {
  return tensorType(value).getElementType();
}

/// Infers the result type of a binary op: the broadcast shape and the element
/// type of both operands. Emits an error and fails if the operands have
/// different element types.
template <typename Op>
static LogicalResult inferBinary(std::optional<Location> loc,
                                 typename Op::Adaptor adaptor,
                                 SmallVectorImpl<Type> &results) {
  if (elementTypeOf(adaptor.getLhs()) != elementTypeOf(adaptor.getRhs()))
    return emitOptionalError(loc, "operands have element types ",
                             elementTypeOf(adaptor.getLhs()), " and ",
                             elementTypeOf(adaptor.getRhs()));
  return inferBroadcast(loc, adaptor.getOperands(),
                        elementTypeOf(adaptor.getLhs()), results);
}

#define PCC_BINARY(OP)                                                         \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, Adaptor adaptor,             \
      SmallVectorImpl<Type> &results) {                                        \
    return inferBinary<OP>(loc, adaptor, results);                             \
  }
PCC_BINARY(AddOp)
PCC_BINARY(SubOp)
PCC_BINARY(MulOp)
PCC_BINARY(DivOp)
PCC_BINARY(MaxOp)
PCC_BINARY(MinOp)
PCC_BINARY(ModOp)
PCC_BINARY(AndOp)
PCC_BINARY(OrOp)
PCC_BINARY(XorOp)
PCC_BINARY(BitAndOp)
PCC_BINARY(BitOrOp)
PCC_BINARY(BitXorOp)
#undef PCC_BINARY

LogicalResult PowOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  return inferBroadcast(loc, adaptor.getOperands(),
                        elementTypeOf(adaptor.getLhs()), results);
}

LogicalResult RandomOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  for (Value operand : adaptor.getOperands())
    if (!elementTypeOf(operand).isSignlessInteger(64))
      return emitOptionalError(loc, "counts in ", operand.getType(),
                               ", not in i64");
  return inferBroadcast(loc, adaptor.getOperands(), Float32Type::get(context),
                        results);
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  if (elementTypeOf(adaptor.getLhs()) != elementTypeOf(adaptor.getRhs()))
    return emitOptionalError(loc, "compares ", adaptor.getLhs().getType(),
                             " with ", adaptor.getRhs().getType());
  return inferBroadcast(loc, adaptor.getOperands(),
                        IntegerType::get(context, 1), results);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  if (elementTypeOf(adaptor.getOnTrue()) != elementTypeOf(adaptor.getOnFalse()))
    return emitOptionalError(loc, "selects between ",
                             adaptor.getOnTrue().getType(), " and ",
                             adaptor.getOnFalse().getType());
  if (!elementTypeOf(adaptor.getCondition()).isInteger(1))
    return emitOptionalError(loc, "condition has type ",
                             adaptor.getCondition().getType(),
                             ", not booleans");
  return inferBroadcast(loc, adaptor.getOperands(),
                        elementTypeOf(adaptor.getOnTrue()), results);
}

/// Infers the result type of a test such as is_nan: a boolean tensor with the
/// shape of the operand.
static LogicalResult inferTest(MLIRContext *context, Value input,
                               SmallVectorImpl<Type> &results) {
  results.push_back(tensorType(input).clone(IntegerType::get(context, 1)));
  return success();
}

LogicalResult IsNanOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  return inferTest(context, adaptor.getInput(), results);
}

LogicalResult IsInfOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location>,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  return inferTest(context, adaptor.getInput(), results);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput())
                                           : OpFoldResult();
}
