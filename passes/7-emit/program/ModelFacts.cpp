//===- ModelFacts.cpp - facts that all programs of a bundle share ---------===//

#include "passes/7-emit/program/ModelFacts.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/program/IndexInputs.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/reshard/ReshardMove.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

std::vector<int> ModelFacts::stagesOf(int position) const {
  std::vector<int> result;
  for (size_t stage = 0; stage < positionOfStage.size(); ++stage)
    if (positionOfStage[stage] == position)
      result.push_back(static_cast<int>(stage));
  return result;
}

func::FuncOp ModelFacts::functionOf(const plan::Action &action) const {
  const std::string name = plan::printKind(action);
  for (func::FuncOp function : functions[action.stage])
    if (pipe::actionOf(function) == name)
      return function;
  return {};
}

int ModelFacts::findTransfer(StringRef value, int from, int to) const {
  auto found = transfersOfValue.find(value);
  if (found == transfersOfValue.end())
    return -1;
  for (int i : found->second)
    if (transfers[i].fromStage == from && transfers[i].toStage == to)
      return i;
  return -1;
}

/// Returns the number of an input or output of the model; -1 if `numbers` does
/// not contain its name. `attributes` are the attributes of a function argument
/// or of a function result. One attribute is the name of the input or output.
/// `numbers` maps names to numbers. Example: if `numbers` maps "ids" to 0 and
/// "mask" to 1, the result for the name "mask" is 1. Returns -1 also if
/// `attributes` is null or contains no name.
static int findPort(const llvm::StringMap<int> &numbers,
                    DictionaryAttr attributes) {
  auto name =
      attributes ? attributes.getAs<StringAttr>(graph::nameName) : nullptr;
  auto found = name ? numbers.find(name.getValue()) : numbers.end();
  return found == numbers.end() ? -1 : found->second;
}

void ModelFacts::numberPorts() {
  for (auto [ports, numbers] :
       {std::pair(&inputs, &inputNumbers), {&outputs, &outputNumbers}})
    for (auto [i, port] : llvm::enumerate(*ports))
      numbers->try_emplace(port.name, static_cast<int>(i));
}

static func::FuncOp ownerOf(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

int ModelFacts::findInput(BlockArgument argument) const {
  return findPort(inputNumbers,
                  ownerOf(argument).getArgAttrDict(argument.getArgNumber()));
}

int ModelFacts::findOutput(DictionaryAttr attributes) const {
  return findPort(outputNumbers, attributes);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Returns the mesh axes, or sub-axes, along which `collective` communicates.
/// Empty if ranks exchange no data. Example: an all_reduce whose operand is
/// partial over {dp, tp} and whose result is partial over {dp} gives {tp}.
static dist::SubAxes groupAxes(dist::CollectiveOp collective,
                               const dist::Mesh &mesh) {
  dist::CollectiveKind kind = collective.getKind();
  if (!dist::communicates(kind))
    return {};
  dist::Sharding from = dist::placement(collective.getFrom().getSharding());
  dist::Sharding to = dist::placement(collective.getTo().getSharding());
  if (dist::reduces(kind))
    return plan::inMeshOrder(
        plan::subtract(dist::partialAxes(from), dist::partialAxes(to))
            .value_or(dist::SubAxes()),
        mesh);
  plan::Movement movement(from, to, dist::shapeOf(collective.getShape()));
  return plan::inMeshOrder(movement.groupAxes(kind, movement.communicated()),
                           mesh);
}

/// Makes an MLIR attribute of the kind, the shardings and the global shape of
/// `collective`, and returns its address. MLIR stores equal attributes once, so
/// equal collectives get equal addresses.
const void *emit::keyOf(dist::CollectiveOp collective) {
  return ArrayAttr::get(collective.getContext(),
                        {collective.getKindAttr(), collective.getFrom(),
                         collective.getTo(), collective.getShapeAttr()})
      .getAsOpaquePointer();
}

const EarlyReduction *
ModelFacts::findEarly(dist::CollectiveOp collective) const {
  auto found = earlyOfCollective.find(collective);
  return found == earlyOfCollective.end() ? nullptr
                                          : &earlyReductions[found->second];
}

int OverlapGroups::of(int group) {
  auto [entry, isNew] =
      known.try_emplace(group, static_cast<int>(facts.groups.size()));
  if (isNew)
    facts.groups.push_back(dist::SubAxes(facts.groups[group]));
  return entry->second;
}

int ModelFacts::groupOf(dist::CollectiveOp collective) const {
  return groupOfKind.at(keyOf(collective));
}

//===----------------------------------------------------------------------===//
// Reading the module
//===----------------------------------------------------------------------===//

namespace {
/// Fills a ModelFacts object, the member `facts`, from an MLIR module. run()
/// calls the other methods one after another. Each method fills some members of
/// `facts`, such as the list of stages. A later method can use members that an
/// earlier method has filled. Each method returns an empty string, or an error
/// message if the module lacks a fact or contains an invalid fact.
class FactReader {
public:
  explicit FactReader(ModuleOp module)
      : facts(module, RankMesh(dist::meshOf(module), numPositions(module),
                               integer(module, pipe::microbatchesName))) {}

  std::string run() {
    using Part = std::string (FactReader::*)();
    static constexpr Part parts[] = {
        &FactReader::readOptions,    &FactReader::readPorts,
        &FactReader::readStages,     &FactReader::readActions,
        &FactReader::readTransfers,  &FactReader::orderExchanges,
        &FactReader::readGroups,     &FactReader::readEarlyReductions,
        &FactReader::readPrefetches, &FactReader::readIndexBounds};
    for (Part part : parts)
      if (std::string missing = (this->*part)(); !missing.empty())
        return missing;
    return {};
  }

  ModelFacts facts;

private:
  static int64_t integer(ModuleOp module, StringRef name) {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 1;
  }

  static int64_t numPositions(ModuleOp module) {
    auto actions = module.getOps<pipe::ActionsOp>();
    return std::max<int64_t>(1, std::distance(actions.begin(), actions.end()));
  }

  std::string text(StringRef name) {
    auto attribute = facts.module->getAttrOfType<StringAttr>(name);
    return attribute ? attribute.str() : "";
  }

  std::string readOptions() {
    facts.microbatches = integer(facts.module, pipe::microbatchesName);
    facts.schedule = text(pipe::scheduleName);
    facts.weightsRoot = text(graph::rootName);
    if (const std::string file = text(graph::modelName); !file.empty())
      facts.model = facts.weightsRoot + "/" + file;
    if (facts.module->hasAttr(rank::randomWeightsName))
      facts.randomSeed =
          static_cast<uint64_t>(integer(facts.module, rank::randomWeightsName));
    return {};
  }

  std::string readPorts() {
    if (!readPorts(graph::inputsName, facts.inputs))
      return "the module does not list the model's inputs";
    if (!readPorts(graph::outputsName, facts.outputs))
      return "the module does not list the model's outputs";
    facts.numberPorts();
    return {};
  }

  /// Appends the inputs or outputs in the module attribute `list` to `ports`.
  /// Sets `facts.samples` to the size of the batch dim, if any. Returns false
  /// if the attribute is missing, or if an entry has no name or no ranked
  /// tensor type.
  bool readPorts(StringRef list, std::vector<Port> &ports) {
    auto attribute = facts.module->getAttrOfType<ArrayAttr>(list);
    if (!attribute)
      return false;
    for (auto entry : attribute.getAsRange<DictionaryAttr>()) {
      auto name = entry.getAs<StringAttr>(graph::nameName);
      auto type = entry.getAs<TypeAttr>(dist::globalName);
      auto sharding = entry.getAs<dist::ShardingAttr>(dist::shardingName);
      if (!name || !type || !isa<RankedTensorType>(type.getValue()))
        return false;
      auto tensor = cast<RankedTensorType>(type.getValue());
      Port &port = ports.emplace_back(
          Port{name.str(), tensor,
               sharding ? sharding.getSharding()
                        : dist::Sharding::whole(tensor.getRank())});
      port.isLabels = entry.contains(graph::labelsName);
      if (auto dim = entry.getAs<IntegerAttr>(graph::batchDimName);
          dim && dim.getInt() >= 0 && dim.getInt() < tensor.getRank()) {
        port.batchDim = static_cast<int>(dim.getInt());
        facts.samples = std::max<int64_t>(1, tensor.getDimSize(port.batchDim));
      }
    }
    return true;
  }

  /// Appends each function of the module to `facts.functions[stage]` of its
  /// stage. Returns an error message if a stage number is out of range, if a
  /// stage has no forward function, or if two functions of a stage have the
  /// same action. Otherwise returns an empty string.
  std::string readStages() {
    const int64_t count = integer(facts.module, pipe::stagesName);
    facts.functions.resize(count);
    facts.positionOfStage.resize(count);
    for (auto function : facts.module.getOps<func::FuncOp>()) {
      const int64_t stage = pipe::stageOf(function);
      if (stage < 0 || stage >= count ||
          llvm::any_of(
              facts.functions[stage],
              [&](func::FuncOp other) {
                return pipe::actionOf(other) == pipe::actionOf(function);
              }))
        return "stage " + std::to_string(stage) +
               " is defined twice, or is not one of the " +
               counted(count, "stage");
      facts.functions[stage].push_back(function);
    }
    for (int64_t stage = 0; stage < count; ++stage)
      if (llvm::none_of(facts.functions[stage], [](func::FuncOp function) {
            return pipe::actionOf(function) == "F";
          }))
        return "stage " + std::to_string(stage) + " has no function";
    return {};
  }

  /// Reads the pipeline schedule from the module. A position is an index along
  /// the pipeline axis: all ranks at it run the same stages. An action is one
  /// run of a stage function: `0F3` is the forward pass of stage 0 for
  /// microbatch 3. Sets `facts.actionsOfPosition` to the actions of each
  /// position, and `facts.positionOfStage` to the position that runs each
  /// stage. Returns an error message, or an empty string.
  std::string readActions() {
    for (auto op : facts.module.getOps<pipe::ActionsOp>()) {
      const auto position = static_cast<int>(facts.actionsOfPosition.size());
      if (static_cast<int>(op.getPosition()) != position)
        return "the actions of position " + std::to_string(position) +
               " are missing";
      for (int64_t stage : op.getStages())
        if (stage >= 0 && stage < facts.numStages())
          facts.positionOfStage[stage] = position;
      auto &actions = facts.actionsOfPosition.emplace_back();
      for (auto action : op.getTable().getAsRange<StringAttr>())
        actions.push_back(action.str());
    }
    return facts.actionsOfPosition.empty() ? "there are no actions" : "";
  }

  /// Lists the transfers: values that one stage sends to another. Returns an
  /// error for a receive without a send.
  std::string readTransfers() {
    for (const auto &functions : facts.functions)
      for (func::FuncOp function : functions)
        for (auto send : function.getOps<pipe::SendOp>()) {
          facts.transfersOfValue[send.getValue()].push_back(
              static_cast<int>(facts.transfers.size()));
          facts.transfers.push_back(
              {send.getValue().str(), static_cast<int>(pipe::stageOf(function)),
               static_cast<int>(send.getTo()),
               cast<RankedTensorType>(send.getInput().getType()),
               plan::sendPartOf(pipe::actionOf(function).str())});
        }
    for (auto function : facts.module.getOps<func::FuncOp>())
      for (auto receive : function.getOps<pipe::ReceiveOp>())
        if (facts.findTransfer(receive.getValue(),
                               static_cast<int>(receive.getFrom()),
                               static_cast<int>(pipe::stageOf(function))) < 0)
          return "'" + receive.getValue().str() + "' is received but not sent";
    return {};
  }

  /// Sets `facts.pipeline` to the programs of all pipeline ranks. A program
  /// lists the actions (runs of stage functions) of the schedule.
  /// plan::insertMessages() adds the starts of messages and the waits for
  /// messages. Returns an error message, or an empty string.
  std::string orderExchanges() {
    plan::ActionTable table;
    table.numStages = facts.numStages();
    table.numMicrobatches = static_cast<int>(facts.microbatches);
    table.positionOfStage = facts.positionOfStage;
    for (const auto &texts : facts.actionsOfPosition) {
      auto &actions = table.positions.emplace_back();
      for (const std::string &text : texts) {
        auto action = plan::parseAction(text);
        if (!action)
          return "'" + text + "' is not an action";
        actions.push_back(*action);
      }
    }
    std::vector<plan::Transfer> transfers;
    for (const StageTransfer &transfer : facts.transfers)
      transfers.push_back({transfer.fromStage, transfer.toStage,
                           transfer.kind.kind, transfer.kind.part});
    auto lowered = plan::insertMessages(table, transfers);
    if (!lowered)
      return lowered.status().message();
    facts.pipeline = std::move(*lowered);
    return {};
  }

  /// Stores the mesh axes along which collectives communicate in
  /// `facts.groups`. Stores the index of each collective's axes in
  /// `facts.groupOfKind`, or -1 if ranks exchange no data. Always returns an
  /// empty string (no error).
  std::string readGroups() {
    for (auto function : facts.module.getOps<func::FuncOp>())
      for (auto collective : function.getOps<dist::CollectiveOp>()) {
        auto [entry, isNew] = facts.groupOfKind.insert({keyOf(collective), -1});
        if (isNew)
          entry->second =
              numberOf(groupAxes(collective, facts.mesh.shardingMesh()));
      }
    return {};
  }

  /// Returns the index of `group` in the list `facts.groups`. `group` contains
  /// the mesh axes, or sub-axes (factors of mesh axes), along which a
  /// collective communicates. If the list does not contain `group`, appends
  /// `group` to the list. Returns -1 if `group` contains no axes: the ranks
  /// then exchange no data.
  int numberOf(const dist::SubAxes &group) {
    if (group.empty())
      return -1;
    for (auto [i, other] : llvm::enumerate(facts.groups))
      if (other == group)
        return static_cast<int>(i);
    facts.groups.push_back(group);
    return static_cast<int>(facts.groups.size()) - 1;
  }

  std::string readEarlyReductions() {
    facts.earlyReductions = findEarlyReductions(facts);
    for (auto [i, early] : llvm::enumerate(facts.earlyReductions))
      facts.earlyOfCollective[early.collective] = i;
    return {};
  }

  std::string readPrefetches() {
    facts.prefetches = findPrefetches(facts);
    return {};
  }

  /// Sets `indexBound` of each model input that holds indices into a dim of
  /// another tensor. `indexBound` becomes the size of this dim. Example: token
  /// ids select rows of an embedding table with 50257 rows, so `indexBound` of
  /// the input is 50257. If the input indexes dims of several sizes,
  /// `indexBound` becomes the smallest size. Always returns an empty string (no
  /// error).
  std::string readIndexBounds() {
    for (auto function : facts.module.getOps<func::FuncOp>())
      for (const IndexInput &use : findIndexInputs(function)) {
        const int port = facts.findInput(use.input);
        if (port < 0)
          continue;
        int64_t &bound = facts.inputs[port].indexBound;
        bound = bound ? std::min(bound, use.size) : use.size;
      }
    return {};
  }
};
} // namespace

StatusOr<ModelFacts> emit::readFacts(ModuleOp module) {
  FactReader reader(module);
  if (std::string missing = reader.run(); !missing.empty())
    return Status::error(CannotRead, missing);
  return std::move(reader.facts);
}
