//===- FormLibraryCalls.cpp - let libraries do what they can --------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/7-emit/LibraryCalls.h"
#include "passes/7-emit/LowerAttention.h"
#include "passes/7-emit/LowerContractions.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/gpu/AttentionPlan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "form-library-calls"

namespace pcc::emit {
#define GEN_PASS_DEF_FORMLIBRARYCALLS
#include "passes/7-emit/Passes.h.inc"
} // namespace pcc::emit

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

/// A contraction with the ops that its library can do, in the order of a body.
static SmallVector<Operation *> opsOfCall(Operation *contraction) {
  SmallVector<Operation *> ops;
  if (isa<graph::MatmulOp>(contraction))
    for (Value operand : contraction->getOperands())
      llvm::append_range(ops, viewOperand(operand).ops);
  ops.push_back(contraction);
  llvm::append_range(ops, Epilogue(contraction).ops);
  return ops;
}

/// Moves the ops into a call where the last of them is: there all that they
/// read is known.
static void outline(ArrayRef<Operation *> ops, Operation *contraction) {
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(ops, operand.getDefiningOp()))
        inputs.insert(operand);
  Value last = ops.back()->getResult(0);
  OpBuilder builder(ops.back());
  auto call = rank::LibraryCallOp::create(builder, contraction->getLoc(),
                                          last.getType(), inputs.getArrayRef());
  Block &body = call.getBody().emplaceBlock();
  IRMapping map;
  for (Value input : inputs)
    map.map(input, body.addArgument(input.getType(), contraction->getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : ops)
    builder.clone(*op, map)->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  rank::YieldOp::create(builder, contraction->getLoc(), map.lookup(last));
  last.replaceAllUsesWith(call.getResult());
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Nobody asks any more where the backward pass begins.
static void replaceLossGradients(func::FuncOp function) {
  for (auto op :
       llvm::make_early_inc_range(function.getOps<graph::LossGradientOp>())) {
    OpBuilder builder(op);
    auto type = graph::tensorType(op.getResult());
    auto one = graph::ConstantOp::create(
        builder, op.getLoc(),
        DenseElementsAttr::get(
            type, Attribute(builder.getFloatAttr(type.getElementType(), 1))));
    one->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op.replaceAllUsesWith(one.getResult());
    op.erase();
  }
}

namespace {
struct FormLibraryCalls
    : pcc::emit::impl::FormLibraryCallsBase<FormLibraryCalls> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    replaceLossGradients(function);
    for (auto op :
         llvm::make_early_inc_range(function.getOps<graph::AttentionOp>()))
      if (!isFused(op))
        lowerAttention(op);
    lowerContractions(function);
    SmallVector<Operation *> contractions;
    for (Operation &op : function.getBody().front())
      if (isLibraryContraction(&op))
        contractions.push_back(&op);
    for (Operation *contraction : contractions) {
      SmallVector<Operation *> ops = opsOfCall(contraction);
      if (ops.size() == 1)
        continue;
      ++numCalls;
      numOps += ops.size() - 1;
      outline(ops, contraction);
    }
    LDBG() << numCalls << " calls do " << numOps << " more ops";
  }
};
} // namespace
