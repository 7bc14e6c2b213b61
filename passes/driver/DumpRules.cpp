//===- DumpRules.cpp - rules that the dumps of all phases obey ------------===//

#include "passes/driver/DumpRules.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "status/Counted.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;

/// `mostRanks`: largest number of ranks. `mostForwards`: largest number of
/// forward passes in one step, which is the number of pipeline stages times the
/// number of microbatches.
static constexpr int64_t mostRanks = 65536, mostForwards = 1 << 22;

/// Returns the product of `a` and `b`, two non-negative numbers. Returns
/// INT64_MAX if the product overflows.
static int64_t multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

/// Checks the axis pp of the mesh, if the mesh has one. The axis must be the
/// first one, and its size must be the number of pipeline ranks: the number of
/// stages divided by the number of stages per pipeline rank (virtual stages).
static LogicalResult checkPipelineAxis(ModuleOp module) {
  auto attribute = module->getAttrOfType<dist::MeshAttr>(dist::meshName);
  const dist::Mesh mesh = attribute ? attribute.getMesh() : dist::Mesh();
  const int index = mesh.indexOf(dist::pipelineAxis);
  const int64_t stages = pipe::countOf(module, pipe::stagesName),
                virtualStages = pipe::countOf(module, pipe::virtualStagesName);
  if (index > 0 || mesh.axes.size() > mesh.ofStage().axes.size() + 1)
    return module.emitOpError("has a mesh with the axis 'pp', which stands for "
                              "pipeline positions and must be the first axis");
  if (index == 0 && mesh.axes[0].size * virtualStages != stages)
    return module.emitOpError("has a mesh with the axis 'pp' of size ")
           << mesh.axes[0].size << ", but " << counted(stages, "stage") << ", "
           << virtualStages << " per pipeline position";
  return success();
}

/// Checks the axis `mb` of the mesh. With several microbatches, the mesh must
/// have this axis. It must be the first one after pp, and its size must be the
/// number of microbatches.
static LogicalResult checkAxes(ModuleOp module, const dist::Mesh &mesh) {
  const int64_t microbatches = pipe::countOf(module, pipe::microbatchesName);
  for (auto [i, axis] : llvm::enumerate(mesh.axes)) {
    if (axis.name == dist::timeAxis && (i > 0 || axis.size != microbatches))
      return module.emitOpError("has a mesh with the axis '")
             << axis.name << "' of size " << axis.size
             << ", which stands for microbatches: it must be the first axis, "
                "of size "
             << microbatches;
  }
  if (module->hasAttr(pipe::microbatchesName) && microbatches > 1 &&
      module->hasAttr(dist::meshName) && mesh.indexOf(dist::timeAxis) != 0)
    return module.emitOpError("has ")
           << counted(microbatches, "microbatch") << ", but no axis '"
           << dist::timeAxis << "' in its mesh";
  return success();
}

/// Checks that the number of ranks is from 1 to `mostRanks`, and that the
/// number of pipeline stages times microbatches is at most `mostForwards`.
static LogicalResult checkSizes(ModuleOp module, const dist::Mesh &mesh) {
  const int64_t stages = pipe::countOf(module, pipe::stagesName);
  int64_t ranks = stages / pipe::countOf(module, pipe::virtualStagesName);
  for (const dist::Axis &axis : mesh.spatial().axes)
    ranks = multiply(ranks, axis.size);
  if (ranks < 1 || ranks > mostRanks)
    return module.emitOpError("needs ")
           << counted(ranks, "rank") << "; from 1 to " << mostRanks
           << " are possible";
  if (multiply(stages, pipe::countOf(module, pipe::microbatchesName)) >
      mostForwards)
    return module.emitOpError("has ")
           << counted(stages, "stage") << " and "
           << counted(pipe::countOf(module, pipe::microbatchesName),
                      "microbatch")
           << ", which need too large a table";
  return success();
}

/// Checks that `op`, if it is a function, has a body of one block. After phase
/// 6-schedule, a function must also have the attribute `pipe.stage`. `passed`
/// is the last phase of the module.
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

/// Checks that @main is the only function of `module`, as it is before phase
/// 6-schedule.
static LogicalResult checkMain(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getName() != "main")
      return function.emitError()
             << "there is a function @" << function.getName()
             << ", expected the forward pass @main alone";
  return module.lookupSymbol<func::FuncOp>("main")
             ? success()
             : module.emitError("there is no function @main");
}

/// Checks that each input and output of the model has a name.
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

/// Checks that `value` is a tensor of static shape with at most 2^50 elements.
/// With this limit, sizes in bytes do not overflow. Emits an error at `op`,
/// which has `value` as a result or as an argument of a region.
static LogicalResult checkValue(Value value, Operation *op) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError("has a value of type ")
           << value.getType() << ", expected a tensor of static shape";
  // Multiply the sizes of all dims, but count a size of 0 as 1. With a factor
  // of 0, the product would be 0 even if the other sizes overflow.
  int64_t elements = 1;
  for (int64_t size : tensor.getShape())
    elements = multiply(elements, std::max<int64_t>(size, 1));
  constexpr int64_t mostElements = int64_t(1) << 50;
  if (elements <= mostElements)
    return success();
  return op->emitOpError("has a value of type ")
         << tensor << ", which is too large";
}

/// Checks `op` and each op that is nested in `op`. For each of these ops, the
/// function calls checkValue() for the results of the op and for the arguments
/// of its regions. checkValue() refuses a value that is not a tensor of static
/// shape, and refuses a tensor with more than 2^50 elements. Fails if
/// checkValue() refuses a value. checkValue() emits the error.
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
  if (failed(checkPipelineAxis(module)) || failed(checkAxes(module, mesh)) ||
      failed(checkSizes(module, mesh)))
    return failure();
  for (Operation &op : *module.getBody())
    if (failed(checkFunction(&op, passed)))
      return failure();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (main && passed < Phase::Schedule && failed(checkNames(main)))
    return failure();
  if (passed < Phase::Schedule && failed(checkMain(module)))
    return failure();
  // `passed` is Phase::None for a model that no phase has processed. Do not
  // check the values of such a model here: phase 1-import checks them.
  if (passed == Phase::None)
    return success();
  return checkValues(module);
}
