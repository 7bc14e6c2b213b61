//===- ModelFacts.h - what all programs of a bundle have in common --------===//

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
  mlir::RankedTensorType type; ///< global
  dist::Sharding sharding;
  /// Inputs only: values are indices below this bound; 0 if they are not.
  int64_t indexBound = 0;
  /// Inputs only: the dim that is the batch, or -1; and whether the loss
  /// compares an output with it.
  int batchDim = -1;
  bool isLabels = false;
};

/// A value that crosses stages. Sender and receiver are known by `value`.
struct StageTransfer {
  std::string value;
  int fromStage = 0, toStage = 0;
  mlir::RankedTensorType type; ///< local
  plan::SendPart kind = {};    ///< what sends it
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
};

/// What the module says about the whole bundle. All programs list groups,
/// transfers and ports in the order in which they stand here.
struct ModelFacts {
  ModelFacts(mlir::ModuleOp module, RankMesh mesh)
      : module(module), mesh(std::move(mesh)) {}

  mlir::ModuleOp module;
  RankMesh mesh;
  int64_t microbatches = 1;
  /// Of a step; 1 without a batch.
  int64_t samples = 1;
  std::string schedule;
  std::string weightsRoot;
  /// The path of the model's file; empty if it is not known.
  std::string model;
  /// Stand-ins for weights without bytes.
  uint64_t randomSeed = 0;
  /// By stage, in the order in which a step first runs them: what all
  /// microbatches share, forward, backward, update.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  std::vector<int> positionOfStage;
  std::vector<std::vector<std::string>> actionsOfPosition;
  std::vector<Port> inputs, outputs;
  std::vector<StageTransfer> transfers;
  plan::PipelineProgram pipeline;
  std::vector<runtime::GroupSpec> groups;
  /// Index of the group of every communicating collective, by what decides it.
  std::map<const void *, int> groupOfKind;
  /// In program order; and their numbers by collective.
  std::vector<EarlyReduction> earlyReductions;
  llvm::DenseMap<mlir::Operation *, size_t> earlyOfCollective;
  /// In program order.
  std::vector<Prefetch> prefetches;

  int numPositions() const {
    return static_cast<int>(actionsOfPosition.size());
  }
  std::vector<int> stagesOf(int position) const;
  int numStages() const { return static_cast<int>(functions.size()); }
  /// What an action runs.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Index of a transfer; -1 if there is none.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Index of the group among which a collective communicates; -1: it is local.
  int groupOf(dist::CollectiveOp collective) const;
  /// Null for a collective that does not start early.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Index of a port by its attributes on a stage function; -1 if unknown.
  static int findPort(const std::vector<Port> &ports,
                      mlir::DictionaryAttr attributes);
  /// Index of the input that an argument of a stage's function is.
  int findInput(mlir::BlockArgument argument) const;
};

/// Groups of the same ranks for collectives in two parts of one sort, which may
/// be under way while others of a group's are called.
class OverlapGroups {
public:
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Index of the group beside `group`; adds it at the first call.
  int of(int group);

private:
  ModelFacts &facts;
  std::map<int, int> known;
};

/// Kind, shardings and shape of a collective as one unique pointer.
const void *keyOf(dist::CollectiveOp collective);

/// Reads a module that phase 6-schedule has passed. On failure says in `error`
/// what is missing.
std::optional<ModelFacts> readFacts(mlir::ModuleOp module, std::string &error);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
