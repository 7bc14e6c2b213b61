//===- PipeDialect.cpp - pipe dialect: verifiers and held results ---------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace pcc::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

/// Checks that the two stages differ.
LogicalResult TransferOp::verify() {
  if (getFrom() == getTo())
    return emitOpError("goes from stage ") << getFrom() << " to itself";
  return success();
}

std::optional<Held> pcc::pipe::heldOf(DictionaryAttr attributes) {
  auto held = attributes ? attributes.getAs<DictionaryAttr>(heldName)
                         : DictionaryAttr();
  auto by = held ? held.getAs<FlatSymbolRefAttr>("by") : FlatSymbolRefAttr();
  auto result = held ? held.getAs<IntegerAttr>("result") : IntegerAttr();
  if (!by || !result)
    return std::nullopt;
  return Held{by.getValue(), static_cast<unsigned>(result.getInt())};
}

std::optional<Held> pcc::pipe::heldOf(BlockArgument argument) {
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function ? heldOf(function.getArgAttrDict(argument.getArgNumber()))
                  : std::nullopt;
}

Value pcc::pipe::heldBy(BlockArgument argument) {
  auto held = heldOf(argument);
  Operation *taker = argument.getOwner()->getParentOp();
  auto maker =
      held ? dyn_cast_or_null<FunctionOpInterface>(
                 SymbolTable::lookupNearestSymbolFrom(
                     taker, StringAttr::get(taker->getContext(), held->by)))
           : FunctionOpInterface();
  if (!maker || maker.isExternal())
    return {};
  // In an edited dump the index may be out of range.
  Operation *terminator = maker.getFunctionBody().front().getTerminator();
  return held->result < terminator->getNumOperands()
             ? terminator->getOperand(held->result)
             : Value();
}

bool pcc::pipe::isAccumulator(BlockArgument argument) {
  auto held = heldOf(argument);
  return held && held->by == SymbolTable::getSymbolName(
                                 argument.getOwner()->getParentOp());
}

NamedAttribute pcc::pipe::heldAttr(MLIRContext *context, const Held &held) {
  Builder builder(context);
  return builder.getNamedAttr(
      heldName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("by", FlatSymbolRefAttr::get(context, held.by)),
           builder.getNamedAttr("result",
                                builder.getI64IntegerAttr(held.result))}));
}
