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

/// Adds no pass, because phase 1-import needs no pass to import a model. If the
/// model is an ONNX file, the class Compilation calls the function importOnnx()
/// before it runs passes. The function importOnnx() reads the ONNX file and
/// creates the module.
static void addImport(OpPassManager &) {}

static void addPrepare(OpPassManager &manager) {
  // For training, make the loss the only result of the model. This pass comes
  // first. After this pass, the ops that compute only other outputs of the
  // model have no users. The next pass erases these ops, so that later passes
  // need not process them.
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
  // Assign each op to a pipeline stage. This phase comes before the phase that
  // chooses shardings. A sharding divides a tensor over the ranks of one stage.
  // Therefore, the stage of each op must be known before shardings are chosen.
  manager.addNestedPass<FuncOp>(place::createCutStages());
}

static void addShard(OpPassManager &manager) {
  manager.addNestedPass<FuncOp>(shard::createDecideShardings());
  // Replace ops that need a whole row of a tensor, such as a softmax, if each
  // rank has only a part of the row. A softmax becomes several ops: a maximum,
  // a subtraction, an exponential, a sum and a division. Each rank computes the
  // maximum and the sum of its part. Collectives can then combine the maxima
  // and the sums of all ranks.
  manager.addNestedPass<FuncOp>(shard::createExpandSplitOps());
  // Insert a reshard where an operand has another sharding than its op needs.
  manager.addNestedPass<FuncOp>(shard::createInsertReshards());
  // Erase the dist.pin ops last. A dist.pin states the sharding that the user
  // asked for. If its operand had another sharding, the pass above has inserted
  // an op that changes the sharding, a reshard. All operands of dist.pin ops
  // now have the right sharding, so these ops are no longer needed.
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
  // Run ops once per step if their results are equal in all microbatches. This
  // pass must follow createOutlineStages(), which inserts a receive for each
  // value from another stage. Received values differ between microbatches.
  manager.addPass(schedule::createHoistShared());
  // Change the order of the ops of the backward pass. This pass runs before
  // createRecompute(). The pass createRecompute() chooses activations that are
  // computed again in the backward pass. The choice depends on the place in the
  // backward pass at which each activation is read.
  manager.addPass(schedule::createOrderBackward());
  // Recompute activations in the backward pass (activation checkpointing). This
  // pass runs after createHoistShared(). The pass createHoistShared() chooses
  // values that are equal in all microbatches, such as a gathered weight. A
  // rank computes a chosen value once per step and keeps the value for the
  // whole step. Therefore, a chosen value does not count as an activation.
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
  // For GPUs, replace ops for which pcc calls no GPU library. For example, a
  // convolution becomes a matrix product. This pass is the first of the phase,
  // because the next pass forms library calls. A library call can then contain
  // the new matrix product and the element-wise ops after it.
  manager.addNestedPass<FuncOp>(emit::createLowerForGpus());
  // Form library calls. A library call computes a matrix product and the
  // element-wise ops after it, such as the addition of a bias. This pass runs
  // before createFormKernels(). The pass createFormKernels() puts the remaining
  // element-wise ops into separate kernels. An element-wise op costs less
  // inside a library call than in a separate kernel.
  manager.addNestedPass<FuncOp>(emit::createFormLibraryCalls());
  manager.addPass(emit::createFormKernels());
}

namespace {
/// Functions for one phase. The function `addPasses` adds all passes of the
/// phase except the gate to a pass manager. The function `createGate` creates
/// the gate. The gate of a phase is a pass that checks the result of the phase.
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

void pcc::addPasses(OpPassManager &manager, Phase phase) {
  rowOf(phase).addPasses(manager);
}

void pcc::addPhase(OpPassManager &manager, Phase phase) {
  addPasses(manager, phase);
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
