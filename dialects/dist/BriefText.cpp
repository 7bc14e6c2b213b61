//===- BriefText.cpp - shardings in messages about ops --------------------===//

#include "dialects/dist/BriefText.h"
#include "sharding/ShardingText.h"

using namespace mlir;

std::string pcc::dist::briefText(const Sharding &sharding, Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return toBriefString(sharding, module ? meshOf(module) : Mesh());
}

std::string pcc::dist::briefText(ShardingAttr sharding, Operation *op) {
  return briefText(sharding.getSharding(), op);
}
