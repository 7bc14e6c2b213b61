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

/// Importing is not a pass: driver/Compilation calls importOnnx before this.
static void addImport(OpPassManager &) {}

static void addPrepare(OpPassManager &manager) {
  // The loss comes first: outputs that it does not need, and the ops that only
  // they need, are removed before any other pass spends time on them.
  manager.addPass(prepare::createAddLoss());
  // Folding comes before matching: later passes cost time per op, and reshapes
  // that cancel each other hide composites.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createRecogniseComposites());
  // Recognised composites leave dead ops and adjacent reshapes behind.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createJoinSlices());
  // A composite op can compute in a narrow type; its parts could not, so the
  // precision is set after matching.
  manager.addPass(prepare::createSetPrecision());
  // Differentiate after precision is set, so that gradients match the ops that
  // run.
  manager.addPass(prepare::createDifferentiate());
  manager.addPass(prepare::createApplyOptimizer());
  // No later pass adds inputs, so batch dims can be marked.
  manager.addPass(prepare::createMarkBatch());
}

static void addPlace(OpPassManager &manager) {
  // Stages come before shardings: the ranks of one stage are the mesh that
  // shardings refer to.
  manager.addNestedPass<FuncOp>(place::createCutStages());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // A softmax whose rows are split communicates inside. Expanded into ops, its
  // statistics are resharded like any other value.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // Every op now states the shardings that it needs, so each use whose operand
  // has another sharding can get a reshard.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Pins go last: reshards now express the shardings that pins asked for.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
}

static void addLocalize(OpPassManager &manager) {
  // Shapes become local first. Reshards keep the global shape, which the choice
  // between collectives needs.
  manager.addNestedPass<FuncOp>(localize::createLocalizeShapes());
  manager.addNestedPass<FuncOp>(localize::createReshardToCollectives());
  // The rows of an expert follow from the tokens that a rank owns, so experts
  // are grouped after localization. No later pass needs the routing.
  manager.addNestedPass<FuncOp>(localize::createGroupExperts());
  manager.addNestedPass<FuncOp>(localize::createExchangeRows());
  // The passes above build masks, offsets and row lists once per use; CSE keeps
  // one of each.
  manager.addPass(createCSEPass());
}

static void addSchedule(OpPassManager &manager) {
  // Hoisting needs the outlined stages: a value that another stage sends
  // differs in every microbatch, so it must stay in the microbatch's function.
  manager.addPass(schedule::createHoistShared());
  // Recompute needs the final order of backward reads.
  manager.addPass(schedule::createOrderBackward());
  // Recompute comes after hoisting: values that all microbatches share are held
  // once, so they are neither recomputed nor counted as activations.
  manager.addPass(schedule::createRecompute());
  manager.addPass(schedule::createSplitActions());
  // Bucketing comes after splitting: one bucket must not join shared work with
  // work of a microbatch, nor two stages.
  manager.addPass(schedule::createBucketCollectives());
  manager.addPass(schedule::createScheduleActions());
}

static void addEmit(OpPassManager &manager) {
  // Ops that become matrix products here can become library calls, together
  // with their epilogues, in the next pass.
  manager.addNestedPass<FuncOp>(emit::createLowerForGpus());
  // Library calls come before kernels: an epilogue of a call costs less than a
  // kernel.
  manager.addNestedPass<FuncOp>(emit::createFormLibraryCalls());
  // All ops that remain become kernels. No later step changes what is computed.
  manager.addPass(emit::createFormKernels());
}

/// Adds a gate, which runs on the module or on each of its functions.
static void addGate(OpPassManager &manager, std::unique_ptr<Pass> gate) {
  if (gate->getOpName() == FuncOp::getOperationName())
    manager.nest<FuncOp>().addPass(std::move(gate));
  else
    manager.addPass(std::move(gate));
}

void pcc::addPhase(OpPassManager &manager, Phase phase) {
  struct Row {
    void (*addPasses)(OpPassManager &);
    std::unique_ptr<Pass> (*createGate)();
  };
  static constexpr Row rows[] = {
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) {add##ENUMERATOR, GATE},
#include "passes/Phases.def"
  };
  const Row &row = rows[static_cast<size_t>(phase) - 1];
  row.addPasses(manager);
  addGate(manager, row.createGate());
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
