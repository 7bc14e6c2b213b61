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
  /// Exclusive upper bound of the elements of an input that holds indices, such
  /// as token ids. If the elements index dims of different sizes, the bound is
  /// the smallest size. 0 for all other inputs and for outputs.
  int64_t indexBound = 0;
  /// Index of the batch dim of the tensor. Each index along the batch dim
  /// selects one sample. Example: a tensor of shape [32, 128] contains 32
  /// samples with 128 tokens each. `batchDim` is 0. If the tensor has no batch
  /// dim, `batchDim` is -1.
  int batchDim = -1;
  /// Whether the tensor is an input that holds labels. Labels are the correct
  /// results for the samples, such as the classes of images. The loss compares
  /// an output of the model with the labels.
  bool isLabels = false;
};

/// Value that one stage sends to another. Its name, the sending stage and the
/// receiving stage identify it.
struct StageTransfer {
  /// Name of the value that one stage sends to another. The op that sends the
  /// value and the op that receives the value contain this name.
  std::string value;
  int fromStage = 0, toStage = 0;
  /// Type of the shard that each rank of the sending stage sends.
  mlir::RankedTensorType type;
  /// Kind of the stage function that sends the value. The kind is forward,
  /// backward or update. An update function runs the optimizer. A stage can
  /// have several update functions: U0, U1 and so on. For an update function,
  /// this member also contains the number of the function. Example: {Update, 1}
  /// means that U1 sends the value.
  plan::SendPart kind = {};
  /// Returns whether the value is sent once per step, not once per microbatch.
  bool isPerStep() const { return kind.kind == plan::TransferKind::Update; }
  /// Returns how often the value is sent in one training step. `microbatches`
  /// is the number of microbatches of the training step. The result is 1 if the
  /// value is sent once per training step. Otherwise the value is sent once per
  /// microbatch, and the result is `microbatches`.
  int64_t callsPerStep(int64_t microbatches) const {
    return isPerStep() ? 1 : microbatches;
  }
};

/// Facts about a module that are the same for all ranks. The compiler writes
/// one program per pipeline position. A position is a place in the pipeline:
/// all ranks at a position run the same stages. The compiler writes all
/// programs from one ModelFacts object. The programs therefore agree on
/// indices: entry 5 of `transfers` is the same value in every program.
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
  /// Functions of each stage, in module order. A stage has a forward function.
  /// It can also have backward functions, update functions (optimizer), and a
  /// function that runs once per step for values that all microbatches use.
  std::vector<std::vector<mlir::func::FuncOp>> functions;
  /// Pipeline positions, one per stage: entry s is the position that runs stage
  /// s. A position is a place in the pipeline: all ranks at a position run the
  /// same stages. Example: {0, 1, 0, 1} means that position 0 runs the stages 0
  /// and 2, and position 1 runs the stages 1 and 3.
  std::vector<int> positionOfStage;
  /// Names of the actions that each position runs in one training step. A
  /// position is a place in the pipeline: all ranks at a position run the same
  /// stages. An action is one run of a stage function. Example: `0F3` is the
  /// forward pass of stage 0 for microbatch 3. The outer list has one entry per
  /// position. Each inner list is in execution order.
  std::vector<std::vector<std::string>> actionsOfPosition;
  /// Inputs and outputs of the model, in the model's order.
  std::vector<Port> inputs, outputs;
  /// Two maps from names to indices. `inputNumbers` maps the name of each model
  /// input to its index in the list `inputs`. `outputNumbers` maps the name of
  /// each model output to its index in the list `outputs`. Example: if the
  /// first model input is `ids`, `inputNumbers` maps "ids" to 0.
  llvm::StringMap<int> inputNumbers, outputNumbers;
  /// Values that stages send to each other, ordered by the sending stage.
  std::vector<StageTransfer> transfers;
  /// Map from the name of a value to indices in the list `transfers`. The list
  /// has one entry for each value that one stage sends to one other stage. A
  /// value that a stage sends to two other stages has two entries in the list,
  /// so the map contains two indices for its name.
  llvm::StringMap<llvm::SmallVector<int, 1>> transfersOfValue;
  /// Pipeline schedule. Entry p of its member `positions` lists the steps of
  /// the ranks at pipeline position p (ranks that run the same stages). A step
  /// runs a stage function, starts sends and receives, or waits for them.
  plan::PipelineProgram pipeline;
  /// Sets of mesh axes along which collectives communicate. The runtime creates
  /// separate communicators for each entry. Two entries may be equal. One of
  /// them is then for collectives that start early and finish later, the other
  /// one for the collectives that run in between (see OverlapGroups).
  std::vector<dist::SubAxes> groups;
  /// Map from collectives to indices in `groups`. The entry of `groups` lists
  /// the mesh axes along which the collective communicates. The index is -1 if
  /// ranks exchange no data, for example because each rank only slices its own
  /// shard. The key of a collective is the result of keyOf(), which is the same
  /// for collectives with equal kind, shardings and global shape.
  std::map<const void *, int> groupOfKind;
  /// Reductions of gradients that start during the backward pass, in program
  /// order.
  std::vector<EarlyReduction> earlyReductions;
  /// Map from collective ops to indices in the list `earlyReductions`. The keys
  /// are all_reduce and reduce_scatter ops that reduce gradients during the
  /// backward pass. While one of them communicates, the ranks compute the
  /// gradients of other weights. The list has one entry per key.
  llvm::DenseMap<mlir::Operation *, size_t> earlyOfCollective;
  /// All-gathers of weights that start before the weight is used, in program
  /// order.
  std::vector<Prefetch> prefetches;

  /// Returns the number of pipeline positions. A position is a place in the
  /// pipeline: all ranks at a position run the same stages. Example: if
  /// position 0 runs the stages 0 and 2, and position 1 runs the stages 1 and
  /// 3, the result is 2.
  int numPositions() const {
    return static_cast<int>(actionsOfPosition.size());
  }
  /// Returns the indices of the stages that the ranks at `position` run, in
  /// ascending order. A position is a place in the pipeline: all ranks at a
  /// position run the same stages. Example: the result for position 0 can be
  /// {0, 2}.
  std::vector<int> stagesOf(int position) const;
  /// Returns the number of stages of the model.
  int numStages() const { return static_cast<int>(functions.size()); }
  /// Returns the function that `action` (a run of a stage function) executes;
  /// null if the stage has no such function.
  mlir::func::FuncOp functionOf(const plan::Action &action) const;
  /// Returns the index in `transfers` of the value named `value` that stage
  /// `from` sends to stage `to`; -1 if there is no such value.
  int findTransfer(llvm::StringRef value, int from, int to) const;
  /// Returns an index in `groups`. The entry at this index lists the mesh axes
  /// along which `collective` communicates. Example: an all_reduce within each
  /// tensor-parallel group communicates along {tp}. Returns -1 if ranks
  /// exchange no data, for example because each rank only slices its own shard.
  int groupOf(dist::CollectiveOp collective) const;
  /// Returns the entry of `earlyReductions` for the op `collective`. The list
  /// `earlyReductions` contains the reductions of gradients that start during
  /// the backward pass. Returns null if `collective` is not one of them.
  const EarlyReduction *findEarly(dist::CollectiveOp collective) const;
  /// Fills the maps `inputNumbers` and `outputNumbers`. `inputNumbers` maps the
  /// name of each model input to its index in `inputs`. `outputNumbers` maps
  /// the name of each model output to its index in `outputs`.
  void numberPorts();
  /// Returns the index of a model output in the list `outputs`. `attributes`
  /// are the MLIR attributes of one result of a stage function. One of these
  /// attributes can be the name of a model output. Returns -1 if the attributes
  /// contain no name of a model output: the function result is then not an
  /// output of the model.
  int findOutput(mlir::DictionaryAttr attributes) const;
  /// Returns the index in `inputs` for a function argument; -1 if the argument
  /// is no input of the model.
  int findInput(mlir::BlockArgument argument) const;
};

/// Makes copies of entries of ModelFacts::groups. Each entry, and so each copy,
/// has separate communicators. A collective that is split into a start and a
/// finish uses a copy. Collectives between the start and the finish use the
/// original entry.
class OverlapGroups {
public:
  /// Creates an object that has made no copies yet. The method of() makes a
  /// copy of an entry of `facts.groups`, and appends the copy to
  /// `facts.groups`. The copy gives the same ranks a second communicator.
  /// `facts` must outlive this object.
  explicit OverlapGroups(ModelFacts &facts) : facts(facts) {}

  /// Returns the index of a copy of entry number `group` of ModelFacts::groups.
  /// The copy is another entry of ModelFacts::groups. It has the same ranks as
  /// the original, but a communicator of its own. The first call for a value of
  /// `group` appends the copy to the list. Later calls return the same index.
  int of(int group);

private:
  ModelFacts &facts;
  /// Map from entries of ModelFacts::groups to their copies. A copy has the
  /// same ranks as the original entry, but a communicator of its own. Keys and
  /// values of the map are indices in ModelFacts::groups. Example: {2: 7} means
  /// that entry 7 is the copy of entry 2.
  std::map<int, int> known;
};

/// Returns a key for `collective`: a pointer that is equal for all collectives
/// with equal kind, shardings and global shape.
const void *keyOf(dist::CollectiveOp collective);

/// Reads the stages, the pipeline schedule, the inputs and outputs, and the
/// collectives of `module`, and returns them as one ModelFacts object. `module`
/// must have passed the compiler phase 6-schedule: each stage consists of
/// functions, and the module lists the actions (runs of these functions).
/// Returns an error if the module is incomplete, for example if the module does
/// not list the inputs of the model.
StatusOr<ModelFacts> readFacts(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_MODELFACTS_H
