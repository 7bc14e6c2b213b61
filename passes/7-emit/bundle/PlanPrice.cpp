//===- PlanPrice.cpp - time, memory and traffic of a plan in one step -----===//

#include "passes/7-emit/bundle/PlanPrice.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "passes/7-emit/bundle/PlannedStep.h"
#include "passes/7-emit/program/FlopCounter.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

StatusOr<PlanPrice> emit::priceOf(ModuleOp module) {
  std::optional<ModelFacts> facts;
  std::vector<PositionProgram> programs;
  PCC_RETURN_IF_ERROR(writePrograms(module, facts, programs));
  const runtime::Timeline step = plannedStep(*facts, programs);
  PlanPrice price{.seconds = step.makespan,
                  .idleShare = runtime::idleShare(step)};
  for (const PositionMemory &memory : memoryOf(*facts, programs))
    price.memoryBytes = std::max(price.memoryBytes, memory.total());
  for (int position = 0; position < facts->numPositions(); ++position)
    price.receivedBytes =
        std::max(price.receivedBytes, receivedBytes(*facts, position));
  const FlopCounter flops(module);
  const int64_t perPosition =
      runtime::numRanks(facts->mesh.ranks()) / facts->numPositions();
  for (int stage = 0; stage < facts->numStages(); ++stage)
    price.stages.push_back(
        {static_cast<int64_t>(flops.ofStep(*facts, stage)) * perPosition,
         step.makespan > 0
             ? step.idle[facts->positionOfStage[stage]] / step.makespan
             : 0});
  return price;
}
