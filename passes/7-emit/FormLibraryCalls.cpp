//===- FormLibraryCalls.cpp - fusion of epilogues into library calls ------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/7-emit/Passes.h"
#include "passes/7-emit/fuse/BiasGradientEpilogue.h"
#include "passes/7-emit/fuse/LibraryCalls.h"
#include "passes/7-emit/gpu/kernel/AttentionPlan.h"
#include "passes/7-emit/lower/LowerAttention.h"
#include "passes/7-emit/lower/LowerContractions.h"
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

namespace {
/// Ops and results of one future library call. The call contains a contraction
/// (matmul or convolution) and the ops that the library computes along with it.
struct CallBody {
  /// Ops that the library call replaces, in execution order:
  ///
  ///   - layout ops of the operands,
  ///   - ops of a bias gradient,
  ///   - the contraction (matmul or convolution),
  ///   - the epilogue, such as bias and activation.
  SmallVector<Operation *> ops;
  /// Result of the epilogue, then the bias gradient if the call computes one.
  SmallVector<Value, 2> results;
};
} // namespace

/// Returns the bias gradient (column sums of an operand) that the library can
/// compute along with `contraction`, or an empty one. Moves the ops of the bias
/// gradient to directly before `contraction`. The library cannot combine a bias
/// gradient with a bias or an activation.
static BiasGradientEpilogue sumsBeside(Operation *contraction,
                                       const Epilogue &epilogue) {
  auto product = dyn_cast<graph::MatmulOp>(contraction);
  if (!product || !canComputeBiasGradient(product) || epilogue.bias ||
      epilogue.activation != program::Activation::None)
    return {};
  return alignBiasGradient(product,
                           graph::tensorType(epilogue.result).getElementType(),
                           epilogue.result.getDefiningOp());
}

/// Returns the ops and results of the library call for `contraction`. Moves the
/// ops of a bias gradient to directly before `contraction`.
static CallBody callBodyOf(Operation *contraction) {
  const Epilogue epilogue(contraction);
  const BiasGradientEpilogue sums = sumsBeside(contraction, epilogue);
  CallBody call;
  if (isa<graph::MatmulOp>(contraction))
    for (Value operand : contraction->getOperands())
      llvm::append_range(call.ops, viewOperand(operand).ops);
  llvm::append_range(call.ops, sums.ops);
  call.ops.push_back(contraction);
  llvm::append_range(call.ops, epilogue.ops);
  call.results.push_back(epilogue.result);
  if (sums.result)
    call.results.push_back(sums.result);
  return call;
}

/// Replaces the ops of `made` by one rank.library_call, in the place of the
/// last op. The body of the call holds clones of the ops.
static void outline(const CallBody &made, Operation *contraction) {
  ArrayRef<Operation *> ops = made.ops;
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(ops, operand.getDefiningOp()))
        inputs.insert(operand);
  OpBuilder builder(ops.back());
  auto call = rank::LibraryCallOp::create(builder, contraction->getLoc(),
                                          TypeRange(ValueRange(made.results)),
                                          inputs.getArrayRef());
  Block &body = call.getBody().emplaceBlock();
  IRMapping map;
  for (Value input : inputs)
    map.map(input, body.addArgument(input.getType(), contraction->getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : ops)
    builder.clone(*op, map)->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  SmallVector<Value> yielded;
  for (auto [result, inCall] :
       llvm::zip_equal(made.results, call.getResults())) {
    yielded.push_back(map.lookup(result));
    Value(result).replaceAllUsesWith(inCall);
  }
  rank::YieldOp::create(builder, contraction->getLoc(), yielded);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Replaces each graph.loss_gradient by a constant 1, the derivative of the
/// loss with respect to itself.
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
      const CallBody call = callBodyOf(contraction);
      // Leave a contraction without other ops as it is. It becomes an
      // instruction without a rank.library_call.
      if (call.ops.size() == 1)
        continue;
      ++numCalls;
      numOps += call.ops.size() - 1;
      outline(call, contraction);
    }
    LDBG() << numCalls << " calls do " << numOps << " more ops";
  }
};
} // namespace
