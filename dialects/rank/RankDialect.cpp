//===- RankDialect.cpp - rank dialect: verifiers and kernel syntax --------===//

#include "dialects/rank/RankDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::rank;

#include "dialects/rank/RankDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/rank/RankAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/rank/RankOps.cpp.inc"

static const DeclaredAttribute declared[] = {
#include "dialects/rank/RankVerifyAttributes.cpp.inc"
};

PCC_VERIFY_ATTRIBUTES(RankDialect)

void RankDialect::initialize() {
  attributes.declare(getContext(), declared);
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/rank/RankAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/rank/RankOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

/// Parses a kernel op, which has the syntax of func.func.
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

YieldOp KernelOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Verifies the signature of a kernel with the attribute `in_parts`. One launch
/// of the kernel processes many tensors, as multi-tensor apply in Apex does.
/// The first arguments may be scalars (rank 0). All other arguments and all
/// results must be tiles (1-D sub-tensors) with the shape of the last result.
static LogicalResult verifyTiles(KernelOp kernel) {
  auto isTile = [](Type type) {
    return cast<RankedTensorType>(type).getRank() == 1;
  };
  SmallVector<Type> tensors(kernel.getArgumentTypes());
  llvm::append_range(tensors, kernel.getResultTypes());
  if (kernel.getResultTypes().empty())
    return kernel.emitOpError("is in parts, but has no result");
  const Type last = kernel.getResultTypes().back();
  ArrayRef<int64_t> tile = cast<RankedTensorType>(last).getShape();
  bool isBehindNumbers = false;
  for (auto [i, type] : llvm::enumerate(tensors)) {
    const bool isNumber = cast<RankedTensorType>(type).getRank() == 0;
    isBehindNumbers |= !isNumber;
    if (isNumber
            ? isBehindNumbers
            : !isTile(type) || cast<RankedTensorType>(type).getShape() != tile)
      return kernel.emitOpError("is in parts, but has ")
             << type << " where a tile like " << last << " must be";
  }
  return success();
}

/// Verifies the attributes and the body of a kernel. If the kernel has the
/// attribute `in_parts`, one launch of the kernel processes many tensors. In
/// this case, verifyTiles() also verifies the types of the arguments and
/// results of the kernel.
LogicalResult KernelOp::verify() {
  if (getBody().empty())
    return emitOpError("has no body");
  // getExtentAttr() returns null if the attribute `extent` in the IR is not an
  // integer, as in `extent = "4"`. The verifier that ODS generates does not
  // reject such an attribute. getGrainAttr() is like getExtentAttr().
  if (!getExtentAttr() || !getGrainAttr())
    return emitOpError("needs an extent and a grain of type i64");
  if (getExtent() < 0 || getGrain() < 1)
    return emitOpError("has extent ")
           << getExtent() << " and grain " << getGrain()
           << "; an extent is not negative and a grain positive";
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("does not end in rank.yield");
  if (yield.getOperandTypes() != TypeRange(getResultTypes()))
    return yield.emitOpError("yields ")
           << yield.getOperandTypes() << ", the kernel returns "
           << getResultTypes();
  if (getInParts() && failed(verifyTiles(*this)))
    return failure();
  if (ArrayAttr scalars = getScalarsAttr())
    for (Attribute scalar : scalars)
      if (!isa<OffsetAttr>(scalar))
        return emitOpError("has scalar ") << scalar << ", not a #rank.offset";
  return success();
}

//===----------------------------------------------------------------------===//
// library_call
//===----------------------------------------------------------------------===//

YieldOp LibraryCallOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Verifies that the body's arguments have the call's operand types, and that
/// the body ends in a `rank.yield` of the call's result types.
LogicalResult LibraryCallOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("takes ") << getInputs().getTypes() << ", its body "
                                 << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError("does not end in rank.yield");
  if (yield.getOperandTypes() != getOperation()->getResultTypes())
    return yield.emitOpError("yields ")
           << yield.getOperandTypes() << ", the call returns "
           << getOperation()->getResultTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// launch
//===----------------------------------------------------------------------===//

/// Emits an error and fails unless the launched kernel exists and has the
/// operand and result types of the launch.
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches @")
           << getKernel() << ", which is not a kernel";
  auto type =
      FunctionType::get(getContext(), getOperandTypes(), getResultTypes());
  if (type != kernel.getFunctionType())
    return (emitOpError("has type ")
            << type << " != " << kernel.getFunctionType())
               .attachNote(kernel.getLoc())
           << "kernel defined here";
  return success();
}

//===----------------------------------------------------------------------===//
// launch_parts
//===----------------------------------------------------------------------===//

int64_t LaunchPartsOp::numParts(KernelOp kernel) {
  return int64_t(getResults().size() / kernel.getResultTypes().size());
}

/// Returns whether `tensors` are valid operands or results of a multi-tensor
/// launch, which runs a kernel on `parts` sets of tensors. For each type in
/// `tiles`, each set must have one tensor of the element type. The tensors of
/// set p must have elements[p] elements.
static bool areParts(TypeRange tensors, ArrayRef<Type> tiles, size_t parts,
                     ArrayRef<int64_t> elements) {
  if (tensors.size() != tiles.size() * parts)
    return false;
  for (auto [i, type] : llvm::enumerate(tensors)) {
    auto tensor = cast<RankedTensorType>(type);
    auto tile = cast<RankedTensorType>(tiles[i / parts]);
    if (tensor.getElementType() != tile.getElementType() ||
        tensor.getNumElements() != elements[i % parts])
      return false;
  }
  return true;
}

/// Verifies a launch of one kernel for several sets of tensors, as in Apex's
/// multi-tensor apply. A set is, for example, a weight and its gradient. All
/// sets share the operands `shared`. All tensors of a set must have the same
/// number of elements.
LogicalResult
LaunchPartsOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel || !kernel.getInParts())
    return emitOpError("launches @")
           << getKernel() << ", which is not a kernel in parts";
  const size_t parts = getResults().size() / kernel.getResultTypes().size();
  SmallVector<int64_t> elements;
  for (Value result : getResults().take_front(parts))
    elements.push_back(
        cast<RankedTensorType>(result.getType()).getNumElements());
  ArrayRef<Type> arguments = kernel.getArgumentTypes();
  const size_t shared = getShared().size();
  if (parts == 0 || shared > arguments.size() ||
      TypeRange(getShared()) != TypeRange(arguments.take_front(shared)) ||
      !areParts(getInputs().getTypes(), arguments.drop_front(shared), parts,
                elements) ||
      !areParts(getResultTypes(), kernel.getResultTypes(), parts, elements))
    return (emitOpError("does not give each of ")
            << parts << " parts the tensors of " << kernel.getFunctionType())
               .attachNote(kernel.getLoc())
           << "kernel defined here";
  return success();
}
