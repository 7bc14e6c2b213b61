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
  // Add the loss first. It replaces the model's other outputs, so that ops
  // needed only by these outputs are removed before later passes.
  manager.addPass(prepare::createAddLoss());
  // Simplify before composites (op sequences that form one op, such as a
  // softmax) are matched. Fewer ops cost less time in later passes, and
  // redundant reshapes would hide composites.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createRecogniseComposites());
  // Simplify again: matching composites (op sequences that form one op, such as
  // a softmax) leaves dead ops and adjacent reshapes.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createJoinSlices());
  // Set the precision after composites (op sequences that form one op, such as
  // a layer norm) are matched. A composite op can compute in a narrow type,
  // whereas the separate ops could not.
  manager.addPass(prepare::createSetPrecision());
  // Differentiate after precision is set, so that gradients match the ops that
  // run.
  manager.addPass(prepare::createDifferentiate());
  manager.addPass(prepare::createApplyOptimizer());
  // Mark the batch dims of inputs last, because the passes above may add
  // inputs, such as the labels.
  manager.addPass(prepare::createMarkBatch());
}

static void addPlace(OpPassManager &manager) {
  // Assign stages before shardings: a sharding refers to the mesh of the ranks
  // of one stage.
  manager.addNestedPass<FuncOp>(place::createCutStages());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // Expand a softmax whose rows are split over ranks into several ops, because
  // it needs communication inside. The maximum and sum of each row can then be
  // resharded like other values.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // Insert a reshard where an operand has another sharding than its op needs.
  // All ops have recorded the shardings that they need by this point.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Erase pins (ops that fix a sharding at the request of the user) last. The
  // reshards express the requested shardings from here on.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
}

static void addLocalize(OpPassManager &manager) {
  // Check indices first, while they count in whole tensors.
  manager.addNestedPass<FuncOp>(localize::createInsertIndexChecks());
  // Convert to local shapes first. Reshards record the global shape, which the
  // choice of collectives needs.
  manager.addNestedPass<FuncOp>(localize::createLocalizeShapes());
  manager.addNestedPass<FuncOp>(localize::createReshardToCollectives());
  // Group tokens by expert after shapes are local: the tokens that an expert on
  // this rank processes depend on how tokens are split over ranks.
  manager.addNestedPass<FuncOp>(localize::createGroupExperts());
  manager.addNestedPass<FuncOp>(localize::createExchangeRows());
  // The passes above create masks, offsets and row lists once per use. CSE
  // merges the equal ones.
  manager.addPass(createCSEPass());
}

static void addSchedule(OpPassManager &manager) {
  manager.addPass(schedule::createOutlineStages());
  // Hoist values out of the microbatch loop after stages are outlined.
  // Outlining creates the receives. A received value differs in every
  // microbatch, so it must not be hoisted.
  manager.addPass(schedule::createHoistShared());
  // Order the backward pass before activations to recompute are chosen. The
  // choice depends on when the backward pass reads each activation.
  manager.addPass(schedule::createOrderBackward());
  // Choose activations to recompute after hoisting. Values that all
  // microbatches share are kept once per step, so they are neither recomputed
  // nor counted as activations.
  manager.addPass(schedule::createRecompute());
  manager.addPass(schedule::createSplitActions());
  // Form buckets (small collectives joined into one call) after functions are
  // split. A bucket must not join a collective that runs once per step with one
  // that runs per microbatch, and must not span two stages.
  manager.addPass(schedule::createBucketCollectives());
  manager.addPass(schedule::createScheduleActions());
}

static void addEmit(OpPassManager &manager) {
  // Lower ops for GPUs first: some become matrix products, which can become
  // library calls in the next pass.
  manager.addNestedPass<FuncOp>(emit::createLowerForGpus());
  // Form library calls before kernels: an epilogue (element-wise ops after a
  // matrix product) costs less inside a library call than as a separate kernel.
  manager.addNestedPass<FuncOp>(emit::createFormLibraryCalls());
  // Turn all remaining ops into kernels. Later steps of the phase do not change
  // which values are computed.
  manager.addPass(emit::createFormKernels());
}

namespace {
/// One phase: the function that adds its passes, and the function that creates
/// its verification gate (the pass that checks the phase's result).
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
