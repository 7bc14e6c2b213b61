//===- DumpRules.cpp - rules that the dumps of all phases obey ------------===//

#include "passes/driver/DumpRules.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;

/// Most ranks of a plan, and most pairs of stage and microbatch.
static constexpr int64_t mostRanks = 65536, mostForwards = 1 << 22;

/// Returns the product of two numbers of at least 0, or INT64_MAX if it is
/// larger.
static int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

/// Returns the i64 attribute `name` of the module, or 1 if it has none.
static int64_t countOf(ModuleOp module, StringRef name) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : 1;
}

/// Checks that the axes of the mesh are distinct and that none has a name with
/// another meaning: `pp` counts positions, and `mb` counts microbatches.
static LogicalResult checkAxes(ModuleOp module, const dist::Mesh &mesh) {
  const int64_t microbatches = countOf(module, pipe::microbatchesName);
  for (auto [i, axis] : llvm::enumerate(mesh.axes)) {
    if (mesh.indexOf(axis.name) != static_cast<int>(i))
      return module.emitOpError("has a mesh with two axes '")
             << axis.name << "'";
    if (axis.name == "pp")
      return module.emitOpError("has a mesh with the axis 'pp', which stands "
                                "for pipeline positions");
    if (axis.name == dist::timeAxis && (i > 0 || axis.size != microbatches))
      return module.emitOpError("has a mesh with the axis '")
             << axis.name << "' of size " << axis.size
             << ", which stands for microbatches: it must be the first axis, "
                "of "
                "size "
             << microbatches;
  }
  if (module->hasAttr(pipe::microbatchesName) && microbatches > 1 &&
      module->hasAttr(dist::meshName) && mesh.indexOf(dist::timeAxis) != 0)
    return module.emitOpError("has ")
           << microbatches << " microbatches, but no axis '" << dist::timeAxis
           << "' in its mesh";
  return success();
}

/// Checks the numbers of ranks, stages and microbatches of the request.
static LogicalResult checkSizes(ModuleOp module, const dist::Mesh &mesh) {
  const int64_t stages = countOf(module, pipe::stagesName);
  int64_t ranks = stages / countOf(module, pipe::virtualStagesName);
  for (const dist::Axis &axis : mesh.spatial().axes)
    ranks = multiply(ranks, axis.size);
  if (ranks < 1 || ranks > mostRanks)
    return module.emitOpError("needs ")
           << ranks << " ranks; from 1 to " << mostRanks << " are possible";
  if (multiply(stages, countOf(module, pipe::microbatchesName)) > mostForwards)
    return module.emitOpError("has ")
           << stages << " stages and "
           << countOf(module, pipe::microbatchesName)
           << " microbatches, which need too large a table";
  return success();
}

/// Checks that `op`, which is at the top level of the module, is a function
/// with one block, or no function.
static LogicalResult checkFunction(Operation *op, Phase passed) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  if (function.isExternal() ||
      !llvm::hasSingleElement(function.getFunctionBody()))
    return op->emitOpError("needs a body of one block");
  if (isa<func::FuncOp>(op) && passed >= Phase::Schedule &&
      !op->hasAttr(pipe::stageName))
    return op->emitOpError("has no '") << pipe::stageName << "'";
  return success();
}

/// Checks that each input and output of the model has a name, by which users
/// refer to it.
static LogicalResult checkNames(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (!main.getArgAttr(i, graph::nameName))
      return main.emitOpError("has an argument ")
             << i << " without " << graph::nameName;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (!main.getResultAttr(i, graph::nameName))
      return main.emitOpError("has a result ")
             << i << " without " << graph::nameName;
  return success();
}

/// Checks that `value` is a tensor of static shape, and that computations with
/// its size in bytes do not overflow.
static LogicalResult checkValue(Value value, Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError("has a value of type ")
           << value.getType() << ", expected a tensor of static shape";
  // Count a dim of size 0 as 1, so that it does not hide others that overflow.
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements = multiply(elements, std::max<int64_t>(size, 1));
  constexpr int64_t mostElements = int64_t(1) << 50;
  if (elements <= mostElements)
    return success();
  return op->emitOpError("has a value of type ")
         << tensor << ", which is too large";
}

/// Checks all values that `op` and its regions define.
static LogicalResult checkValues(Operation *op) {
  return success(!op->walk([](Operation *inner) {
                      for (Value result : inner->getResults())
                        if (failed(checkValue(result, inner)))
                          return WalkResult::interrupt();
                      for (Region &region : inner->getRegions())
                        for (BlockArgument argument : region.getArguments())
                          if (failed(checkValue(argument, inner)))
                            return WalkResult::interrupt();
                      return WalkResult::advance();
                    }).wasInterrupted());
}

LogicalResult pcc::checkDumpRules(ModuleOp module, Phase passed) {
  const dist::Mesh mesh = dist::meshOf(module);
  if (failed(checkAxes(module, mesh)) || failed(checkSizes(module, mesh)))
    return failure();
  for (Operation &op : *module.getBody())
    if (failed(checkFunction(&op, passed)))
      return failure();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && passed < Phase::Schedule && failed(checkNames(main)))
    return failure();
  // The gate of 1-import checks a model.
  if (passed == Phase::None)
    return success();
  if (!main && passed < Phase::Schedule)
    return module.emitOpError("has no function @main");
  return checkValues(module);
}
