//===- Pipeline.cpp - the passes of each phase ----------------------------===//

#include "passes/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/1-import/Passes.h"
#include "passes/2-prepare/Passes.h"
#include "passes/3-place/Passes.h"
#include "passes/4-shard/Passes.h"
#include "passes/5-localize/Passes.h"
#include "passes/6-schedule/Passes.h"
#include "passes/7-emit/Passes.h"

using namespace mlir;
using namespace pcc;
using func::FuncOp;

static void addImport(OpPassManager &manager) {
  manager.addPass(createVerifyImported());
}

static void addPrepare(OpPassManager &manager) {
  // Outputs that the loss does not need go, with what made them.
  manager.addPass(prepare::createAddLoss());
  // Shape arithmetic goes first: everything behind costs time per op, and
  // composites are hidden by reshapes that cancel.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createRecogniseComposites());
  // Recognised composites leave their parts dead, and reshapes next to each
  // other.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createJoinSlices());
  // Composites know how to compute in a narrow type, their parts do not.
  manager.addPass(prepare::createSetPrecision());
  // The backward pass is of what will run.
  manager.addPass(prepare::createDifferentiate());
  manager.addPass(prepare::createApplyOptimizer());
  // Inputs are what they will be: dims can be marked.
  manager.addPass(prepare::createMarkBatch());
  manager.addPass(prepare::createVerifyPrepared());
}

static void addPlace(OpPassManager &manager) {
  // Stages come before shardings, because a stage's ranks are the mesh that
  // shardings speak of.
  manager.addNestedPass<FuncOp>(place::createCutStages());
  manager.addNestedPass<FuncOp>(place::createVerifyPlaced());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // A softmax whose rows are split hides communication: as ops of their own its
  // statistics are resharded like everything else.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // Decided shardings say what each op needs; only now is it known where that
  // differs from what it gets.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Reshards hold what pins asked for.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
  manager.addNestedPass<FuncOp>(shard::createVerifySharded());
}

static void addLocalize(OpPassManager &manager) {
  // Shapes shrink first; reshards keep the global shape that the choice between
  // collectives needs.
  manager.addNestedPass<FuncOp>(localize::createLocalizeShapes());
  manager.addNestedPass<FuncOp>(localize::createReshardToCollectives());
  // Which rows an expert has follows from what a rank owns; nothing behind this
  // asks how they came about.
  manager.addNestedPass<FuncOp>(localize::createGroupExperts());
  manager.addNestedPass<FuncOp>(localize::createExchangeRows());
  // Masks and offsets of one dim are built once per use, as are rows; one of
  // each is enough.
  manager.addPass(createCSEPass());
  manager.addNestedPass<FuncOp>(localize::createVerifyLocal());
}

static void addSchedule(OpPassManager &manager) {
  manager.addPass(schedule::createOutlineStages());
  // Only now is it known what a stage reads: what another stage sends counts as
  // different in every microbatch.
  manager.addPass(schedule::createHoistShared());
  // What keeps activations asks when they are read.
  manager.addPass(schedule::createOrderBackward());
  // What all microbatches share is held once: it need not be made again, nor
  // does what comes from it count as an activation.
  manager.addPass(schedule::createRecompute());
  manager.addPass(schedule::createSplitActions());
  // One call must not tie what a stage shares to a microbatch, nor two stages.
  manager.addPass(schedule::createBucketCollectives());
  manager.addPass(schedule::createScheduleActions());
  manager.addPass(schedule::createVerifyScheduled());
}

static void addEmit(OpPassManager &manager) {
  // What becomes a product here may become a library's call with what is around
  // it.
  manager.addNestedPass<FuncOp>(emit::createLowerForGpus());
  // Libraries choose first: what they do on the way costs less than a kernel.
  manager.addNestedPass<FuncOp>(emit::createFormLibraryCalls());
  // The other cheap ops become kernels. Nothing behind this changes what is
  // computed.
  manager.addPass(emit::createFormKernels());
  manager.addPass(emit::createVerifyEmitted());
}

void pcc::addPhase(OpPassManager &manager, Phase phase) {
  using Adder = void (*)(OpPassManager &);
  static constexpr Adder adders[] = {
      nullptr,
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) add##ENUMERATOR,
#include "passes/Phases.def"
  };
  adders[static_cast<size_t>(phase)](manager);
}

int pcc::exitCodeOf(Phase phase, StringRef passArgument) {
  if (passArgument.starts_with("verify-") && passArgument != "verify-imported")
    return 1;
  switch (phase) {
  case Phase::Import:
    return 4;
  case Phase::Emit:
    return 1;
  default:
    return 6;
  }
}
