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
  // Choose the float types of ops, such as bf16, after composites are formed. A
  // composite is one op that replaces several ops. For example, a softmax
  // replaces an exponential, a sum and a division. The softmax can have
  // operands and results of type bf16. The exponential and the sum would have
  // to compute in f32.
  manager.addPass(prepare::createSetPrecision());
  // Build the backward pass after the float types of the forward ops are
  // chosen. The backward pass is then the derivative of the ops that run,
  // including the casts that createSetPrecision() has inserted.
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
  // Erase the pins last. A pin is an op that requests a sharding for its
  // operand. If an operand had another sharding, the pass above has inserted an
  // op that changes the sharding, a reshard. All operands of pins now have the
  // requested shardings, so the pins are no longer needed.
  manager.addNestedPass<FuncOp>(shard::createErasePins());
}

static void addLocalize(OpPassManager &manager) {
  // Insert ops that check at run time whether indices, such as token ids, are
  // in range. At this point, an index counts the rows of the whole tensor.
  // After the next pass, an index may count only the rows of the part on one
  // rank.
  manager.addNestedPass<FuncOp>(localize::createInsertIndexChecks());
  // Replace the global shape of each value (the shape of the whole tensor) by
  // the local shape (the shape of the part on one rank). A reshard is an op
  // that changes the sharding of a value. Each reshard keeps the global shape
  // in an attribute. The next pass needs this shape to replace the reshard by
  // collectives.
  manager.addNestedPass<FuncOp>(localize::createLocalizeShapes());
  manager.addNestedPass<FuncOp>(localize::createReshardToCollectives());
  // In a mixture of experts, make each expert compute only the tokens that
  // chose this expert. The pass runs after all shapes are local (shapes of the
  // parts on one rank), because a rank groups only the tokens and the experts
  // that it has.
  manager.addNestedPass<FuncOp>(localize::createGroupExperts());
  manager.addNestedPass<FuncOp>(localize::createExchangeRows());
  // The passes above insert ops that compute masks, offsets of indices, and
  // lists of tokens. If several ops need the same mask, the passes insert the
  // mask once for each of these ops. CSE (common subexpression elimination)
  // merges equal ops into one op.
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
  // Form buckets: a bucket joins several small collectives into one call. All
  // collectives of a bucket must be in one function. The pass above has divided
  // the function of each stage into several functions, such as one for the
  // forward pass and one for the backward pass. Therefore, buckets are formed
  // after that pass.
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
