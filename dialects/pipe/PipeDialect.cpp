//===- PipeDialect.cpp - pipe dialect: verifiers and held results ---------===//

#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static bool isStage(Attribute attribute) { return isNumber(attribute, 0); }

/// Returns an error unless the stage index in `attribute` is less than the
/// number of stages, the module's `pipe.stages`.
static std::optional<std::string> checkStage(const AttributeSite &site,
                                             Attribute attribute) {
  const int64_t stage = cast<IntegerAttr>(attribute).getInt();
  auto module = site.op->getParentOfType<ModuleOp>();
  auto stages = module ? dyn_cast_or_null<IntegerAttr>(
                             module->getDiscardableAttr(stagesName))
                       : IntegerAttr();
  if (!stages || stage < stages.getValue().getSExtValue())
    return std::nullopt;
  return ("needs a stage of " +
          counted(stages.getValue().getSExtValue(), "stage") +
          ", counted from 0, got " + Twine(stage))
      .str();
}

/// Returns an error unless the number of stages per rank (`attribute`, the
/// virtual stages) divides the number of all stages. The number of all stages
/// is the attribute `pipe.stages`, or 1 if that attribute is absent.
static std::optional<std::string> checkVirtualStages(const AttributeSite &site,
                                                     Attribute attribute) {
  const int64_t perPosition = cast<IntegerAttr>(attribute).getInt();
  auto stages = site.op->getAttrOfType<IntegerAttr>(stagesName);
  const int64_t all = stages ? stages.getValue().getSExtValue() : 1;
  if (all % perPosition == 0)
    return std::nullopt;
  return ("needs a divisor of " + Twine(all) + ", the number of stages, got " +
          Twine(perPosition))
      .str();
}

static bool isAction(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  if (!text)
    return false;
  StringRef action = text.getValue();
  unsigned part = 0;
  constexpr unsigned largestPart = 1 << 20;
  return llvm::is_contained({"F", "B", "I", "W", unshardAction.data()},
                            action) ||
         (action.consume_front("U") && !action.getAsInteger(10, part) &&
          part < largestPart);
}

static bool isHeld(Attribute attribute) {
  auto held = dyn_cast<DictionaryAttr>(attribute);
  return held && held.size() == 2 && held.getAs<FlatSymbolRefAttr>("by") &&
         held.get("result") && isNumber(held.get("result"), 0);
}

static bool isRecompute(Attribute attribute) {
  auto text = dyn_cast<StringAttr>(attribute);
  return text && llvm::is_contained({"none", "full", "selective", "auto"},
                                    text.getValue());
}

static const AttributeKind virtualStagesKind{
    positiveKind.needs, positiveKind.fits, checkVirtualStages};
static const AttributeKind stageKind{"an i64 of at least 0", isStage,
                                     checkStage};
static const AttributeKind actionKind{"F, B, I, W, UNSHARD or U and a number",
                                      isAction};
static const AttributeKind heldKind{
    "{by = @function, result = i64 of at least 0}", isHeld};
static const AttributeKind recomputeKind{"none, full, selective or auto",
                                         isRecompute};

static const DeclaredAttribute declared[] = {
#include "dialects/pipe/PipeVerifyAttributes.cpp.inc"
};

PCC_VERIFY_ATTRIBUTES(PipeDialect)

void PipeDialect::initialize() {
  attributes.declare(getContext(), declared);
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

/// Emits an error and fails if a stage transfers to itself.
LogicalResult TransferOp::verify() {
  if (getFrom() == getTo())
    return emitOpError("goes from stage ") << getFrom() << " to itself";
  auto stage = (*this)->getAttrOfType<IntegerAttr>(stageName);
  if (stage && stage.getInt() != static_cast<int64_t>(getTo()))
    return emitOpError("goes to stage ")
           << getTo() << ", but is an op of stage " << stage.getInt();
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

FunctionOpInterface pcc::pipe::makerOf(BlockArgument argument) {
  auto held = heldOf(argument);
  if (!held)
    return {};
  // Search from the end: the functions of the stages stand behind the
  // parameters, of which there may be thousands.
  Operation *taker = argument.getOwner()->getParentOp();
  for (Operation &op : llvm::reverse(*taker->getBlock()))
    if (auto maker = dyn_cast<FunctionOpInterface>(op);
        maker && SymbolTable::getSymbolName(maker) == held->by)
      return maker;
  return {};
}

Value pcc::pipe::heldBy(BlockArgument argument) {
  auto held = heldOf(argument);
  FunctionOpInterface maker = makerOf(argument);
  if (!maker || maker.isExternal())
    return {};
  // The operands of the terminator are the results of the function `maker`.
  // `held->result` is the index of one of these results. If a user has edited
  // the IR, the function may have too few results. Return null in this case.
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
