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

namespace pcc::emit {

/// An input or output of the model.
struct Port {
  std::string name;
  /// Global type.
  mlir::RankedTensorType type;
  dist::Sharding sharding;
  /// For an input whose elements index a table: the number of rows, the
  /// smallest one if there are several tables. 0 for other inputs. Random
  /// inputs obey the bound.
  int64_t indexBound = 0;
  /// For an input: the dim of the batch; -1 if it has none.
  int batchDim = -1;
  /// For an input: whether the loss compares an output with it.
  bool isLabels = false;
};

/// A value that one stage sends to another. The sending and the receiving side
/// identify a transfer by the name of its value and the two stages.
struct StageTransfer {
  /// Name of the value.
  std::string value;
  int fromStage = 0, toStage = 0;
  /// Local type: the part of one rank.
  mlir::RankedTensorType type;
  /// Kind and part of the action that sends the value.
  plan::SendPart kind = {};
  /// Returns whether the value is sent once per step instead of once per
  /// microbatch.
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
};

/// Facts about a bundle that the programs of all positions must agree on, read
/// once from the module. All programs list groups, transfers, inputs and
/// outputs in the order of this struct, so that indices mean the same on all
/// ranks.
struct ModelFacts {
  /// Only stores its arguments; readFacts() fills the rest.
  ModelFacts(mlir::ModuleOp module, RankMesh mesh)
      : module(module), mesh(std::move(mesh)) {}

  mlir::ModuleOp module;
  RankMesh mesh;
  int64_t microbatches = 1;
  /// Samples of one step, over all ranks; 1 without a batch.
  int64_t samples = 1;
  /// Name of the pipeline schedule.
  std::string schedule;
  /// Directory that the paths of weight files are relative to.
  std::string weightsRoot;
  /// Path of the model's file; empty if it is unknown.
  std::string model;
  /// Seed of weights that no file holds.
  uint64_t randomSeed = 0;
  /// The functions of each stage, in the order in which a step first runs them:
  /// what all microbatches share, forward, backward, update.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  /// Position that runs each stage.
  std::vector<int> positionOfStage;
  /// Actions of each position in one step, as text such as `0F3`.
  std::vector<std::vector<std::string>> actionsOfPosition;
  /// Inputs and outputs of the model, in the model's order.
  std::vector<Port> inputs, outputs;
  /// Transfers between stages, ordered by sending stage.
  std::vector<StageTransfer> transfers;
  /// The actions of all positions with the posts and waits of their messages.
  plan::PipelineProgram pipeline;
  /// Groups of ranks that communicate. Equal groups occur once, except those of
  /// early reductions and prefetches (OverlapGroups).
  std::vector<runtime::GroupSpec> groups;
  /// Index of the group of every collective by keyOf(); -1 for a local one.
  std::map<const void *, int> groupOfKind;
  /// Gradient reductions that start during the backward pass, in program order.
  std::vector<EarlyReduction> earlyReductions;
  /// Index in `earlyReductions` by the op of the collective.
  llvm::DenseMap<mlir::Operation *, size_t> earlyOfCollective;
  /// Weight gathers that start before their use, in program order.
  std::vector<Prefetch> prefetches;

  /// Returns the number of positions of the pipeline.
  int numPositions() const {
    return static_cast<int>(actionsOfPosition.size());
  }
  /// Returns the stages that `position` runs, ascending.
  std::vector<int> stagesOf(int position) const;
  /// Returns the number of stages of the model.
  int numStages() const { return static_cast<int>(functions.size()); }
  /// Returns the function that `action` runs; null if the stage has none of its
  /// kind.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns the index of a transfer; -1 if there is none.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Returns the index of the group in which a collective of the module
  /// communicates; -1 if the collective is local.
  int groupOf(dist::CollectiveOp collective) const;
  /// Returns the early reduction of a collective; null if it does not start
  /// early.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Returns the index of the port that the attributes of an argument or result
  /// of a stage function name; -1 if they name none.
  static int findPort(const std::vector<Port> &ports,
                      mlir::DictionaryAttr attributes);
  /// Returns the index of the input that an argument of a stage function is; -1
  /// if it is no input of the model.
  int findInput(mlir::BlockArgument argument) const;
};

/// Groups for collectives that are split into start and finish, such as all
/// prefetches. A split collective may be in flight while the ranks call other
/// collectives. It therefore needs a communicator of its own, and gets a second
/// group of the same ranks.
class OverlapGroups {
public:
  /// Borrows `facts`, to which groups are added.
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Returns the index of the second group with the ranks of `group`; adds it
  /// at the first call.
  int of(int group);

private:
  ModelFacts &facts;
  /// Index of the second group, by index of the first group.
  std::map<int, int> known;
};

/// Returns a pointer that is equal for collectives of equal kind, shardings and
/// global shape.
const void *keyOf(dist::CollectiveOp collective);

/// Reads the facts of a module that phase 6-schedule has processed. If the
/// module lacks any, returns std::nullopt and sets `error`; else clears
/// `error`.
std::optional<ModelFacts> readFacts(mlir::ModuleOp module, std::string &error);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
