//===- EvenCut.cpp - cut of a chain into stages of about equal time -------===//

#include "passes/3-place/EvenCut.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/rank/RankDialect.h"

#include <limits>

using namespace mlir;
using namespace pcc;
using namespace pcc::place;

/// Returns the largest numbers of bytes of weights that one stage can store
/// under --memory-limit. The first number holds if weights are sharded over
/// the axis tp only, the second if they are sharded over all ranks of the
/// stage. Without --memory-limit, returns only infinity.
static SmallVector<double, 2> memoryOfStage(ModuleOp module) {
  auto limit = module->getAttrOfType<IntegerAttr>(rank::memoryLimitName);
  if (!limit)
    return {std::numeric_limits<double>::infinity()};
  const dist::Mesh mesh = dist::meshOf(module).spatial();
  const auto ofRank = static_cast<double>(limit.getInt());
  return {ofRank * std::max<int64_t>(1, mesh.sizeOf("tp")),
          ofRank * std::max<int64_t>(1, mesh.size())};
}

plan::StageCut place::cutEvenly(func::FuncOp function,
                                const plan::StageCutRequest &request) {
  constexpr double mostWeights = 0.85;
  plan::StageCutRequest bounded = request;
  double weights = 0;
  for (plan::WorkItem &item : bounded.items) {
    item.activationBytes = 0;
    weights += item.weightBytes;
  }
  if (request.numStages > 1 && weights > 0)
    for (double held : memoryOfStage(function->getParentOfType<ModuleOp>())) {
      bounded.memoryLimit = std::min(mostWeights * weights, held);
      if (plan::StageCut cut = plan::cutStages(bounded); cut.error.empty())
        return cut;
    }
  return plan::cutStages(request);
}
