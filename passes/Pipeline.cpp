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

/// Adds no passes: Compilation calls importOnnx before the pipeline runs.
static void addImport(OpPassManager &) {}

static void addPrepare(OpPassManager &manager) {
  // Add the loss first: it removes other outputs and the ops that only they
  // need, so that no later pass spends time on these.
  manager.addPass(prepare::createAddLoss());
  // Simplify before composites are matched: fewer ops cost less time in later
  // passes, and redundant reshapes would hide composites.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createRecogniseComposites());
  // Simplify again: matching composites leaves dead ops and adjacent reshapes.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createJoinSlices());
  // Set the precision after matching: a composite op can compute in a narrow
  // type, whereas its parts could not.
  manager.addPass(prepare::createSetPrecision());
  // Differentiate after precision is set, so that gradients match the ops that
  // run.
  manager.addPass(prepare::createDifferentiate());
  manager.addPass(prepare::createApplyOptimizer());
  // Mark batch dims last: no later pass adds inputs.
  manager.addPass(prepare::createMarkBatch());
}

static void addPlace(OpPassManager &manager) {
  // Assign stages before shardings: a sharding refers to the mesh of the ranks
  // of one stage.
  manager.addNestedPass<FuncOp>(place::createCutStages());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // Expand a softmax whose rows are split, because it communicates inside. Its
  // statistics can then be resharded like other values.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // All ops have recorded which shardings they need: create a reshard where an
  // operand has another sharding.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Erase pins (requests of the user for a sharding) last. The reshards express
  // these shardings from here on.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
}

static void addLocalize(OpPassManager &manager) {
  // Convert to local shapes first. Reshards record the global shape, which the
  // choice of collectives needs.
  manager.addNestedPass<FuncOp>(localize::createLocalizeShapes());
  manager.addNestedPass<FuncOp>(localize::createReshardToCollectives());
  // Group experts after localization, because the tokens that an expert on this
  // rank processes depend on how tokens are split. No later pass needs the
  // routing.
  manager.addNestedPass<FuncOp>(localize::createGroupExperts());
  manager.addNestedPass<FuncOp>(localize::createExchangeRows());
  // The passes above create masks, offsets and row lists once per use. CSE
  // merges equal ones.
  manager.addPass(createCSEPass());
}

static void addSchedule(OpPassManager &manager) {
  manager.addPass(schedule::createOutlineStages());
  // Hoist after stages are outlined: a value that another stage sends differs
  // in every microbatch and must not be hoisted.
  manager.addPass(schedule::createHoistShared());
  // Order the backward pass before recompute, which needs the final order of
  // its reads.
  manager.addPass(schedule::createOrderBackward());
  // Recompute after hoisting: values that all microbatches share are kept once
  // per step, so they are neither recomputed nor counted as activations.
  manager.addPass(schedule::createRecompute());
  manager.addPass(schedule::createSplitActions());
  // Form buckets after functions are split: a bucket must not join collectives
  // that run once per step with those of a microbatch, nor those of two stages.
  manager.addPass(schedule::createBucketCollectives());
  manager.addPass(schedule::createScheduleActions());
}

static void addEmit(OpPassManager &manager) {
  // Lower ops for GPUs first: some become matrix products, which can become
  // library calls in the next pass.
  manager.addNestedPass<FuncOp>(emit::createLowerForGpus());
  // Form library calls before kernels: an epilogue inside a library call costs
  // less than a separate kernel.
  manager.addNestedPass<FuncOp>(emit::createFormLibraryCalls());
  // Turn all remaining ops into kernels. No later step changes which values are
  // computed.
  manager.addPass(emit::createFormKernels());
}

namespace {
/// One phase: the functions that create its passes and its verification gate,
/// the pass that checks the rules for its result.
struct PhaseRow {
  void (*addPasses)(OpPassManager &);
  std::unique_ptr<Pass> (*createGate)();
};
} // namespace

static const PhaseRow &rowOf(Phase phase) {
  static constexpr PhaseRow rows[] = {
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) {add##ENUMERATOR, GATE},
#include "passes/Phases.def"
  };
  return rows[static_cast<size_t>(phase) - 1];
}

void pcc::addGate(OpPassManager &manager, Phase phase) {
  std::unique_ptr<Pass> gate = rowOf(phase).createGate();
  // A verification gate (a pass that checks the result of a phase) runs either
  // on the module or on each of its functions.
  if (gate->getOpName() == FuncOp::getOperationName())
    manager.nest<FuncOp>().addPass(std::move(gate));
  else
    manager.addPass(std::move(gate));
}

void pcc::addPhase(OpPassManager &manager, Phase phase) {
  rowOf(phase).addPasses(manager);
  addGate(manager, phase);
}

ExitCode pcc::exitCodeOf(Phase phase, StringRef passArgument) {
  if (passArgument.starts_with("verify-") && passArgument != "verify-imported")
    return Defect;
  switch (phase) {
  case Phase::Import:
    return Unsupported;
  case Phase::Emit:
    return Defect;
  default:
    return CannotMeet;
  }
}
