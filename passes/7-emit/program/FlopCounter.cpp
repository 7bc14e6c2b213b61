//===- FlopCounter.cpp - floating-point operations of stages and ops ------===//

#include "passes/7-emit/program/FlopCounter.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

std::string emit::typeNameOf(Operation &op) {
  Value value = op.getNumResults()    ? op.getResult(0)
                : op.getNumOperands() ? op.getOperand(0)
                                      : Value();
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type ? std::string(runtime::nameOf(elementTypeOf(type))) : "f32";
}

FlopCounter::FlopCounter(ModuleOp module) {
  for (auto kernel : module.getOps<rank::KernelOp>())
    ofKernel[kernel.getSymName()] = of(kernel.getBody().front());
}

/// Returns the number of elements that `launch` computes, divided by the number
/// of elements (a tile) that one run of its kernel computes. `launch` applies
/// one kernel to several tensors. Example: a tile has 1000 elements, and
/// `launch` computes two tensors of 1000 and 500 elements. The result is 1.5.
static double numTiles(rank::LaunchPartsOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<rank::KernelOp>(
      launch, launch.getKernelAttr());
  double elements = 0, ofTile = 0;
  for (Type type : launch.getResultTypes())
    elements += static_cast<double>(cast<ShapedType>(type).getNumElements());
  for (Type type : kernel.getResultTypes())
    ofTile += static_cast<double>(cast<ShapedType>(type).getNumElements());
  return elements / ofTile;
}

double FlopCounter::of(Operation &op) const {
  if (auto cost = dyn_cast<graph::CostOpInterface>(op))
    return cost.getFlops();
  if (auto launch = dyn_cast<rank::LaunchOp>(op))
    return ofKernel.lookup(launch.getKernel());
  if (auto launch = dyn_cast<rank::LaunchPartsOp>(op))
    return ofKernel.lookup(launch.getKernel()) * numTiles(launch);
  if (auto call = dyn_cast<rank::LibraryCallOp>(op))
    return of(call.getBody().front());
  return 0;
}

double FlopCounter::of(Block &block) const {
  double flops = 0;
  for (Operation &op : block)
    flops += of(op);
  return flops;
}

std::string FlopCounter::busiestType(const ModelFacts &facts) const {
  std::map<std::string, double> flopsOfType;
  for (const auto &functions : facts.functions)
    for (func::FuncOp function : functions)
      for (Operation &op : function.front())
        if (double flops = of(op); flops > 0)
          flopsOfType[typeNameOf(op)] += flops;
  std::pair<std::string, double> busiest = {"f32", 0};
  for (const auto &[type, flops] : flopsOfType)
    if (flops > busiest.second)
      busiest = {type, flops};
  return busiest.first;
}

double FlopCounter::ofStep(const ModelFacts &facts, int stage) const {
  double flops = 0;
  for (func::FuncOp function : facts.functions[stage])
    flops +=
        of(function.front()) * (pipe::runsOnce(function)
                                    ? 1
                                    : static_cast<double>(facts.microbatches));
  return flops;
}
