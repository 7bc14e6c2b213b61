//===- CollectiveSteps.cpp - conversion of reshard steps to collectives ---===//

#include "passes/5-localize/CollectiveSteps.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using namespace pcc;

dist::CollectiveOp pcc::localize::makeCollective(OpBuilder &builder,
                                                 Location location, Value value,
                                                 const plan::ReshardStep &step,
                                                 ArrayRef<int64_t> shape,
                                                 StringRef name,
                                                 Attribute stage) {
  MLIRContext *context = builder.getContext();
  auto global =
      RankedTensorType::get(shape, graph::tensorType(value).getElementType());
  auto op = dist::CollectiveOp::create(
      builder, location, dist::localType(global, step.after), step.kind, value,
      dist::ShardingAttr::get(context, step.before),
      dist::ShardingAttr::get(context, step.after), shape, step.receivedBytes,
      name, ValueRange());
  if (stage)
    op->setAttr(pipe::stageName, stage);
  dist::setSharding(op.getResult(), step.after);
  return op;
}
