//===- StateParameters.cpp - parameters that hold training state ----------===//

#include "passes/2-prepare/training/StateParameters.h"
#include "dialects/graph/StepParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

graph::ParameterOp pcc::prepare::getOrCreateState(ModuleOp module,
                                                  StringRef name,
                                                  RankedTensorType type,
                                                  double fill) {
  if (auto known = module.lookupSymbol<graph::ParameterOp>(name))
    return known;
  OpBuilder builder(module.lookupSymbol<func::FuncOp>("main"));
  auto parameter = graph::ParameterOp::create(
      builder, builder.getUnknownLoc(), builder.getStringAttr(name), type);
  parameter.setFillAttr(builder.getF64FloatAttr(fill));
  return parameter;
}

Value pcc::prepare::read(ArithmeticBuilder &builder,
                         graph::ParameterOp parameter) {
  return builder.make<graph::GetParameterOp>(parameter.getType(),
                                             parameter.getSymName());
}

Value pcc::prepare::readStep(ArithmeticBuilder &builder, ModuleOp module) {
  return read(builder, getOrCreateState(
                           module, graph::stepName,
                           RankedTensorType::get({}, builder.getI64Type())));
}
