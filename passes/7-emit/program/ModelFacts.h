//===- ModelFacts.h - facts that all programs of a bundle share -----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
#define PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/7-emit/program/EarlyReductions.h"
#include "passes/7-emit/program/RankMesh.h"
#include "passes/7-emit/program/WeightPrefetches.h"
#include "passes/plan/schedule/PipelineMessages.h"
#include "status/StatusOr.h"
#include "llvm/ADT/StringMap.h"

namespace pcc::emit {

/// Input or output of the model.
struct Port {
  std::string name;
  /// Global type.
  mlir::RankedTensorType type;
  dist::Sharding sharding;
  /// For an input of indices, such as token ids: the size of the smallest dim
  /// that they index. Random indices stay below this size. 0 for all other
  /// inputs and for outputs.
  int64_t indexBound = 0;
  /// Index of the batch dim; -1 if there is none.
  int batchDim = -1;
  /// Whether this input holds labels, with which the loss compares an output.
  bool isLabels = false;
};

/// Value that one stage sends to another. Its name, the sending stage and the
/// receiving stage identify it.
struct StageTransfer {
  /// Name of the value in its send and receive ops.
  std::string value;
  int fromStage = 0, toStage = 0;
  /// Type of the shard that each rank of the sending stage sends.
  mlir::RankedTensorType type;
  /// Kind of the action (run of a stage function) that sends the value:
  /// forward, backward or a part of the optimizer update.
  plan::SendPart kind = {};
  /// Returns whether the value is sent once per step, not once per microbatch.
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
  /// Returns how often a step of `microbatches` microbatches sends the value.
  int64_t callsPerStep(int64_t microbatches) const {
    return isPerStep() ? 1 : microbatches;
  }
};

/// Facts about a module that all its programs share. There is one program per
/// position (virtual pipeline rank). An index into a list of facts, such as
/// `transfers`, means the same object in every program.
struct ModelFacts {
  /// Stores `module` and `mesh`. readFacts() sets all other members.
  ModelFacts(mlir::ModuleOp module, RankMesh mesh)
      : module(module), mesh(std::move(mesh)) {}

  mlir::ModuleOp module;
  RankMesh mesh;
  int64_t microbatches = 1;
  /// Number of samples (batch entries) of one step, over all ranks and
  /// microbatches; 1 if no input has a batch dim.
  int64_t samples = 1;
  /// Name of the pipeline schedule, such as "1f1b".
  std::string schedule;
  /// Directory to which the paths of weight files are relative.
  std::string weightsRoot;
  /// Path of the ONNX file of the model; empty if it is unknown.
  std::string model;
  /// Seed of the random numbers that fill weights without a file.
  uint64_t randomSeed = 0;
  /// Functions of each stage in execution order: one for values that all
  /// microbatches share, then forward, backward and update.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  /// Index of the pipeline position that runs each stage.
  std::vector<int> positionOfStage;
  /// Actions (runs of stage functions) of each pipeline position in one step.
  /// Example: `0F3` is the forward pass of stage 0 for microbatch 3.
  std::vector<std::vector<std::string>> actionsOfPosition;
  /// Inputs and outputs of the model, in the model's order.
  std::vector<Port> inputs, outputs;
  /// Index of each name in `inputs` or `outputs`.
  llvm::StringMap<int> inputNumbers, outputNumbers;
  /// Values that stages send to each other, ordered by the sending stage.
  std::vector<StageTransfer> transfers;
  /// Indices in `transfers`, by name of the value.
  llvm::StringMap<llvm::SmallVector<int, 1>> transfersOfValue;
  /// Steps of each pipeline position: actions (runs of stage functions), posts
  /// (starts of messages) and waits.
  plan::PipelineProgram pipeline;
  /// Groups of ranks within which collectives communicate. An entry lists the
  /// mesh axes along which the ranks of a group differ. Collectives with a
  /// separate start and finish have entries of their own (OverlapGroups).
  std::vector<dist::SubAxes> groups;
  /// Index in `groups` of the group of ranks of each collective; -1 if the
  /// ranks exchange no data. The key of the map is keyOf() of the collective.
  std::map<const void *, int> groupOfKind;
  /// Reductions of gradients that start during the backward pass, in program
  /// order.
  std::vector<EarlyReduction> earlyReductions;
  /// Index in `earlyReductions` of each reduction that starts early, by its op.
  llvm::DenseMap<mlir::Operation *, size_t> earlyOfCollective;
  /// All-gathers of weights that start before the weight is used, in program
  /// order.
  std::vector<Prefetch> prefetches;

  /// Returns the number of positions (virtual pipeline ranks).
  int numPositions() const {
    return static_cast<int>(actionsOfPosition.size());
  }
  /// Returns the indices of the stages that `position` runs, in ascending
  /// order.
  std::vector<int> stagesOf(int position) const;
  /// Returns the number of stages of the model.
  int numStages() const { return static_cast<int>(functions.size()); }
  /// Returns the function that `action` (a run of a stage function) executes;
  /// null if the stage has no such function.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns the index in `transfers` of the value named `value` that stage
  /// `from` sends to stage `to`; -1 if there is no such value.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Returns the index in `groups` of the group of `collective`; -1 if ranks
  /// exchange no data.
  int groupOf(dist::CollectiveOp collective) const;
  /// Returns the early reduction (of a gradient, during the backward pass) with
  /// the op `collective`; null if there is none.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Sets `inputNumbers` and `outputNumbers` from `inputs` and `outputs`.
  void numberPorts();
  /// Returns the index in `outputs` for a function result with `attributes`; -1
  /// if the result is no output of the model.
  int findOutput(mlir::DictionaryAttr attributes) const;
  /// Returns the index in `inputs` for a function argument; -1 if the argument
  /// is no input of the model.
  int findInput(mlir::BlockArgument argument) const;
};

/// Copies of groups of ranks, for collectives that are split into a start and a
/// finish. Between the two, the ranks may call other collectives. A split
/// collective therefore communicates in a copy of its group. The copy has the
/// same ranks, but a communicator of its own.
class OverlapGroups {
public:
  /// Prepares an empty set of copies of groups. of() appends the copies to
  /// `facts.groups`. `facts` must outlive this object.
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Returns the index in ModelFacts::groups of the copy of group number
  /// `group`. Makes the copy at the first call for this group.
  int of(int group);

private:
  ModelFacts &facts;
  /// Index of the copy of each group, by the index of the group. Both are
  /// indices into ModelFacts::groups.
  std::map<int, int> known;
};

/// Returns a key for `collective`: a pointer that is equal for all collectives
/// with equal kind, shardings and global shape.
const void *keyOf(dist::CollectiveOp collective);

/// Reads the facts of a module after phase 6-schedule. Returns an error if a
/// fact is missing.
StatusOr<ModelFacts> readFacts(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
