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
  // Add the loss first, so that ops that only the model's other outputs need
  // are removed early.
  manager.addPass(prepare::createAddLoss());
  // Simplify first: redundant reshapes would hide composites (op sequences that
  // form one op, such as a softmax).
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createRecogniseComposites());
  // Simplify again: matching composites (op sequences that form one op, such as
  // a softmax) leaves dead ops and adjacent reshapes.
  manager.addNestedPass<FuncOp>(prepare::createSimplifyGraph());
  manager.addNestedPass<FuncOp>(prepare::createJoinSlices());
  // Set the precision after composites (op sequences that form one op, such as
  // a layer norm) are matched. Only a composite op can compute in a narrow
  // type.
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
  // Assign stages before shardings: the mesh of a sharding has the ranks of one
  // stage.
  manager.addNestedPass<FuncOp>(place::createCutStages());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // Expand a softmax whose rows are split over ranks into several ops.
  // Collectives can then reduce the maximum and the sum of each row.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // Insert a reshard where an operand has another sharding than its op needs.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Erase pins (shardings that the user requests) last: the reshards express
  // them by this point.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
}

static void addLocalize(OpPassManager &manager) {
  // Insert index checks while indices still refer to whole tensors.
  manager.addNestedPass<FuncOp>(localize::createInsertIndexChecks());
  // Convert to local shapes first. Reshards still record the global shapes,
  // from which the next pass chooses collectives.
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
  // Outlining creates receives, whose values differ per microbatch and must not
  // be hoisted.
  manager.addPass(schedule::createHoistShared());
  // Order the backward pass before activations to recompute are chosen. The
  // choice depends on when the backward pass reads each activation.
  manager.addPass(schedule::createOrderBackward());
  // Choose activations to recompute after hoisting. Hoisted values are kept for
  // the whole step and do not count as activations.
  manager.addPass(schedule::createRecompute());
  manager.addPass(schedule::createSplitActions());
  // Form buckets (small collectives joined into one call) after functions are
  // split. All collectives of a bucket must run in one function.
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
  manager.addPass(emit::createFormKernels());
}

namespace {
/// Two functions of one phase: one adds its passes, one creates its
/// verification gate. A gate is a pass that checks the phase's result.
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
  // A gate (a pass that checks a phase's result) runs on the module or on each
  // function.
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
