//===- VerifyImported.cpp - verification gate of phase 1-import -----------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/1-import/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "verify-imported"

using namespace mlir;

namespace pcc {
#define GEN_PASS_DEF_VERIFYIMPORTED
#include "passes/1-import/Passes.h.inc"

/// Returns whether `type` is a ranked tensor of static shape.
static bool isStatic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

/// Checks that `op` is a `dist.pin` (sharding constraint), a graph op, or a
/// func op other than func.call. Checks that its results have static shapes.
static LogicalResult checkOp(Operation *op) {
  Dialect *dialect = op->getDialect();
  bool known =
      isa_and_present<graph::GraphDialect, func::FuncDialect>(dialect) ||
      isa<dist::PinOp>(op);
  if (!known || isa<func::CallOp>(op))
    return op->emitOpError(
        "is not a graph op; '1-import' must end with graph ops only");
  for (Value value : op->getResults())
    if (!isStatic(value.getType()))
      return op->emitOpError("gives ")
             << value.getType()
             << "; after '1-import' every value is a tensor of static shape";
  return success();
}

/// Checks that each argument of `function` is a tensor of static shape and has
/// an attribute `graph.name`. The attribute holds the name of the ONNX input
/// from which the import created the argument.
static LogicalResult checkFunction(func::FuncOp function) {
  for (Type type : function.getArgumentTypes())
    if (!isStatic(type))
      return function.emitOpError("takes ")
             << type
             << "; after '1-import' every value is a tensor of static "
                "shape";
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, graph::nameName))
      return function.emitOpError("has an argument ")
             << i << " without graph.name";
  return success();
}

namespace {
/// Pass `--verify-imported`, which checks a module after the import. The module
/// needs a function @main, static shapes, a `graph.name` for each argument, and
/// only ops that checkOp() accepts.
struct VerifyImported : impl::VerifyImportedBase<VerifyImported> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main) {
      module.emitOpError("has no function @main");
      return signalPassFailure();
    }
    WalkResult result = module.walk([&](Operation *op) {
      if (op == module.getOperation())
        return WalkResult::advance();
      ++numOps;
      auto function = dyn_cast<func::FuncOp>(op);
      return WalkResult(function ? checkFunction(function) : checkOp(op));
    });
    LDBG() << "checked " << numOps << " ops";
    if (result.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace pcc
