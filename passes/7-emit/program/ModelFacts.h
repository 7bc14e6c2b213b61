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

namespace pcc::emit {

/// An input or output of the model.
struct Port {
  std::string name;
  /// Global type.
  mlir::RankedTensorType type;
  dist::Sharding sharding;
  /// For an input whose elements index tables: the number of rows of the
  /// smallest table. 0 for other inputs. When a run fills inputs with random
  /// numbers, they stay below this bound.
  int64_t indexBound = 0;
  /// For an input: the index of its batch dim; -1 if it has none.
  int batchDim = -1;
  /// For an input: whether it holds the labels that the loss compares an output
  /// with.
  bool isLabels = false;
};

/// A value that one stage sends to another. The sending and the receiving stage
/// identify it by its name and by the two stages.
struct StageTransfer {
  /// Name of the value, as send and receive ops have it.
  std::string value;
  int fromStage = 0, toStage = 0;
  /// Type of the part of the value that one rank holds.
  mlir::RankedTensorType type;
  /// Kind of the action that sends the value: forward, backward or update. For
  /// an update, which consists of several parts, also the number of the part.
  plan::SendPart kind = {};
  /// Returns whether the value is sent once per step. Otherwise it is sent once
  /// per microbatch.
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
};

/// Facts about a module that the programs of all pipeline positions must agree
/// on, read once. All programs list groups, transfers, inputs and outputs in
/// the order of this struct, so that an index means the same on all ranks.
struct ModelFacts {
  /// Stores its arguments. readFacts() reads all other members.
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
  /// part that all microbatches share, forward, backward, update.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  /// For each stage, the position (virtual pipeline rank) that runs it.
  std::vector<int> positionOfStage;
  /// Actions of each pipeline position in one step, in order, as text: `0F3` is
  /// the forward pass of stage 0 for microbatch 3.
  std::vector<std::vector<std::string>> actionsOfPosition;
  /// Inputs and outputs of the model, in the model's order.
  std::vector<Port> inputs, outputs;
  /// Values that stages send to each other, ordered by the sending stage.
  std::vector<StageTransfer> transfers;
  /// Steps of all pipeline positions: their actions, and the posts and waits of
  /// messages in between.
  plan::PipelineProgram pipeline;
  /// Groups of ranks within which collectives communicate. Each entry names the
  /// mesh axes along which the members of a group differ. Entries differ from
  /// each other, except those of collectives that are split into start and
  /// finish (OverlapGroups).
  std::vector<dist::SubAxes> groups;
  /// Maps the keyOf() of each collective to the index of its entry in `groups`;
  /// to -1 if the collective exchanges nothing between ranks.
  std::map<const void *, int> groupOfKind;
  /// Reductions of gradients that start during the backward pass, in program
  /// order.
  std::vector<EarlyReduction> earlyReductions;
  /// Maps the op of a collective to its index in `earlyReductions`.
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
  /// `from` sends to stage `to`; -1 if there is none.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Returns the index in `groups` of the groups of ranks within which
  /// `collective` communicates; -1 if it exchanges nothing between ranks.
  int groupOf(dist::CollectiveOp collective) const;
  /// Returns the early reduction (of a gradient during the backward pass) whose
  /// op is `collective`; null if `collective` does not start early.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Returns the index in `ports` (inputs or outputs of the model) of the port
  /// that `attributes` refer to; -1 if there is none. `attributes` are those of
  /// an argument or result of a stage function.
  static int findPort(const std::vector<Port> &ports,
                      mlir::DictionaryAttr attributes);
  /// Returns the index in `inputs` of the model's input that `argument`, an
  /// argument of a stage function, stands for; -1 if it stands for none.
  int findInput(mlir::BlockArgument argument) const;
};

/// Groups of ranks for collectives of one kind, such as prefetches, that are
/// split into two instructions: start and finish. Between the two, ranks may
/// call other collectives. So a split collective needs a communicator of its
/// own, which is created for a second group of the same ranks.
class OverlapGroups {
public:
  /// `facts`, to which the new groups are added, must outlive this object.
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Returns the index of the second group that has the same ranks as the group
  /// with index `group`. Adds the second group at the first call.
  int of(int group);

private:
  ModelFacts &facts;
  /// Maps the index of a group to the index of its second group.
  std::map<int, int> known;
};

/// Returns a key for `collective`: a pointer that is the same for all
/// collectives with equal kind, shardings and global shape.
const void *keyOf(dist::CollectiveOp collective);

/// Reads the facts of a module that phase 6-schedule has processed. If the
/// module lacks a fact, returns an error that says what is missing.
StatusOr<ModelFacts> readFacts(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
