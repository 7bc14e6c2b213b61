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
  /// Bound for the random numbers that a run fills into the input: they are
  /// less than `indexBound`. If elements of the input index tables, this is the
  /// number of rows of the smallest table. 0 for inputs that index no table,
  /// and for outputs.
  int64_t indexBound = 0;
  /// Index of the batch dim of the input or output; -1 if it has no batch dim.
  int batchDim = -1;
  /// Whether this is an input that holds labels, with which the loss compares
  /// an output of the model.
  bool isLabels = false;
};

/// Value that one stage sends to another. The two stages identify the value by
/// its name, by the sending stage and by the receiving stage.
struct StageTransfer {
  /// Name of the value, which its send and receive ops contain.
  std::string value;
  int fromStage = 0, toStage = 0;
  /// Type of the rank's shard of the value.
  mlir::RankedTensorType type;
  /// Kind of the action that sends the value: forward, backward or update. For
  /// an update, also the number of the update's part that sends the value.
  plan::SendPart kind = {};
  /// Returns whether the value is sent once per step. Otherwise it is sent once
  /// per microbatch.
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
};

/// Facts about a module that the programs of all pipeline positions must agree
/// on. They are read once. All programs list groups, transfers, inputs and
/// outputs in the order of this struct, so that an index means the same object
/// on all ranks.
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
  /// Functions of each stage, in the order in which a step first runs them: the
  /// function whose results all microbatches share, then forward, backward and
  /// update.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  /// For each stage, the position (virtual pipeline rank) that runs it.
  std::vector<int> positionOfStage;
  /// Actions (runs of stage functions) of each pipeline position in one step,
  /// in order, as text: `0F3` is the forward pass of stage 0 for microbatch 3.
  std::vector<std::vector<std::string>> actionsOfPosition;
  /// Inputs and outputs of the model, in the model's order.
  std::vector<Port> inputs, outputs;
  /// By name of an input or output: its index in `inputs` or `outputs`.
  llvm::StringMap<int> inputNumbers, outputNumbers;
  /// Values that stages send to each other, ordered by the sending stage.
  std::vector<StageTransfer> transfers;
  /// Steps of each pipeline position: its actions (runs of stage functions)
  /// and, between them, the posts (starts of sends and receives) and waits for
  /// messages.
  plan::PipelineProgram pipeline;
  /// Groups of ranks within which collectives communicate. Each entry lists the
  /// mesh axes along which the ranks of a group differ. No two entries have the
  /// same axes, except for the second groups that OverlapGroups adds: those of
  /// collectives that are split into a start and a finish.
  std::vector<dist::SubAxes> groups;
  /// Maps the key of each collective (see keyOf) to the index, in `groups`, of
  /// the group within which the collective communicates; to -1 if the
  /// collective exchanges no data between ranks.
  std::map<const void *, int> groupOfKind;
  /// Reductions of gradients that start during the backward pass, in program
  /// order.
  std::vector<EarlyReduction> earlyReductions;
  /// Maps the op of a reduction that starts early to the index of the reduction
  /// in `earlyReductions`.
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
  /// Returns the function that `action` runs. Returns null if the action's
  /// stage has no function for actions of that kind.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns the index in `transfers` of the value named `value` that stage
  /// `from` sends to stage `to`; -1 if there is no such value.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Returns the index in `groups` of the groups of ranks within which
  /// `collective` communicates; -1 if `collective` exchanges no data between
  /// ranks.
  int groupOf(dist::CollectiveOp collective) const;
  /// Returns the early reduction (of a gradient during the backward pass) whose
  /// op is `collective`; null if `collective` does not start early.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Sets `inputNumbers` and `outputNumbers` from `inputs` and `outputs`.
  void numberPorts();
  /// Returns the index in `outputs` of the model's output that a result of a
  /// stage function with `attributes` stands for; -1 if it stands for none.
  int findOutput(mlir::DictionaryAttr attributes) const;
  /// Returns the index in `inputs` of the model's input that `argument`, an
  /// argument of a stage function, stands for; -1 if `argument` is not an input
  /// of the model.
  int findInput(mlir::BlockArgument argument) const;
};

/// Second groups of ranks for split collectives. A split collective, such as a
/// prefetch, is two instructions: a start and a finish. Between them, ranks may
/// call other collectives, so a split collective needs a communicator of its
/// own. A second group has the ranks of an ordinary group and its own
/// communicator. One OverlapGroups object serves one kind of split collectives.
class OverlapGroups {
public:
  /// Prepares an empty set of second groups. `facts`, to which of() adds the
  /// groups, must outlive this object.
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Returns the index of the second group with the ranks of the group with
  /// index `group`. Adds the second group at the first call for `group`.
  int of(int group);

private:
  ModelFacts &facts;
  /// Maps the index of a group to the index of its second group.
  std::map<int, int> known;
};

/// Returns a key for `collective`: a pointer that is equal for all collectives
/// with equal kind, shardings and global shape.
const void *keyOf(dist::CollectiveOp collective);

/// Reads the facts of a module that phase 6-schedule has processed. If the
/// module lacks a fact, returns an error that names the missing fact.
StatusOr<ModelFacts> readFacts(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
