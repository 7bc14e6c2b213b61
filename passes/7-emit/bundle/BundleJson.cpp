//===- BundleJson.cpp - bundle.json: description of a bundle --------------===//

#include "passes/7-emit/bundle/BundleJson.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "dialects/rank/RankDialect.h"
#include "passes/7-emit/bundle/CollectiveFacts.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "passes/7-emit/program/FlopCounter.h"
#include "runtime/program/StepMemory.h"
#include "runtime/timeline/TimelineJson.h"
#include "llvm/ADT/StringSet.h"

#include <nlohmann/json.hpp>
#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using Json = nlohmann::ordered_json;

static std::string typeName(program::ElementType type) {
  return std::string(runtime::nameOf(runtime::typeOf(type)));
}

namespace {
/// Order of the dims of a weight in bundle.json. This is the order in the
/// weight file if the program only transposes and casts the weight. Otherwise
/// it is the order in the program.
struct StoredView {
  /// Computes `order` from `parameter.transforms`: the transposes, casts and
  /// other transforms that the program applies to the weight after it has read
  /// the weight from the file.
  explicit StoredView(const program::ParameterT &parameter)
      : order(parameter.shape.size()) {
    std::iota(order.begin(), order.end(), 0);
    for (const auto &step : parameter.transforms) {
      if (const auto *transpose = step->step.AsTranspose())
        append(transpose->permutation);
      else if (!step->step.AsCast())
        isReshaped = true;
    }
    if (isReshaped || order.size() != parameter.stored_shape.size()) {
      order.resize(parameter.shape.size());
      std::iota(order.begin(), order.end(), 0);
    }
  }

  /// Map from the dims of the weight in bundle.json to its dims in the program:
  /// dim i of bundle.json is dim `order[i]` in the program. Example: {1, 0} for
  /// a matrix that the program transposes.
  std::vector<size_t> order;

private:
  /// Updates `order` for one transpose of the weight: dim k of the transposed
  /// weight is dim permutation[k] of the weight before. If `permutation` has
  /// another length than `order`, only sets `isReshaped` to true.
  void append(const std::vector<int32_t> &permutation) {
    std::vector<size_t> inverse(order.size());
    if (permutation.size() != order.size()) {
      isReshaped = true;
      return;
    }
    for (size_t i = 0; i < permutation.size(); ++i)
      inverse[permutation[i]] = i;
    for (size_t &dim : order)
      dim = inverse[dim];
  }

  /// Whether the program slices or reshapes the weight after reading it from a
  /// file.
  bool isReshaped = false;
};

/// Builds the JSON of bundle.json, one method per field.
class BundleWriter {
public:
  BundleWriter(const ModelFacts &facts,
               const std::vector<PositionProgram> &programs)
      : facts(facts), programs(programs), flops(facts.module) {}

  /// Returns all fields of bundle.json except the planned step.
  Json write() {
    Json json;
    json["world"] = runtime::numRanks(facts.mesh.ranks());
    json["mesh"] = meshJson();
    json["target"] = dist::targetOf(facts.module);
    json["tf32"] = facts.module->hasAttr(rank::tf32Name);
    json["microbatches"] = facts.microbatches;
    json["schedule"] = facts.schedule;
    json["inputs"] = portsJson(facts.inputs);
    json["outputs"] = portsJson(facts.outputs);
    json["stages"] = stagesJson();
    json["programs"] = programsJson();
    json["collectives"] = collectivesJson();
    json["transfers"] = transfersJson();
    json["kernels"] = kernelsJson();
    return json;
  }

private:
  /// Returns the sizes of the mesh axes by name. Leaves out axes of size 1.
  Json meshJson() const {
    Json mesh = Json::object();
    for (const dist::Axis &axis : facts.mesh.ranks().spatial().axes)
      if (axis.size > 1)
        mesh[axis.name] = axis.size;
    return mesh;
  }

  static Json portsJson(const std::vector<Port> &ports) {
    Json list = Json::array();
    for (const Port &port : ports)
      list.push_back(
          {{"name", port.name},
           {"dtype", std::string(runtime::nameOf(elementTypeOf(port.type)))},
           {"shape", port.type.getShape().vec()}});
    return list;
  }

  /// Returns a JSON list with one object per pipeline stage. `flops` is for one
  /// step and all ranks of the stage. `recomputed_flops` is the part of `flops`
  /// that recomputes activations (activation checkpointing).
  Json stagesJson() {
    Json list = Json::array();
    const int64_t perPosition =
        runtime::numRanks(facts.mesh.ranks()) / facts.numPositions();
    for (int stage = 0; stage < facts.numStages(); ++stage) {
      const int position = facts.positionOfStage[stage];
      std::vector<int64_t> ranks(perPosition);
      std::iota(ranks.begin(), ranks.end(), position * perPosition);
      list.push_back(
          {{"stage", stage},
           {"ranks", ranks},
           {"flops", flopsOf(static_cast<int>(stage)) * perPosition},
           {"recomputed_flops", recomputedFlopsOf(stage) * perPosition},
           {"weight_bytes", weightBytes(static_cast<int>(stage))},
           {"activation_bytes", programs[position].tables.arena_bytes}});
    }
    return list;
  }

  /// Returns the flops of a stage in one step, on one rank.
  int64_t flopsOf(int stage) const {
    return static_cast<int64_t>(flops.ofStep(facts, stage));
  }

  /// Returns the number of floating-point operations that one rank executes in
  /// one step to recompute activations of the pipeline stage `stage`. With
  /// activation checkpointing, the backward pass computes some activations of
  /// the forward pass again. The result of flopsOf() includes this number.
  int64_t recomputedFlopsOf(int stage) const {
    auto flops =
        ModuleOp(facts.module)
            ->getAttrOfType<DenseI64ArrayAttr>(pipe::recomputedFlopsName);
    return flops && stage < flops.size() ? flops[stage] * facts.microbatches
                                         : 0;
  }

  /// Returns the bytes of the whole (unsharded) weights that a stage reads.
  /// Counts each weight once, and no optimizer state (StepMemory.h).
  int64_t weightBytes(int stage) const {
    llvm::StringSet<> read;
    for (func::FuncOp function : facts.functions[stage])
      for (auto get : function.getOps<graph::GetParameterOp>())
        read.insert(get.getParameter());
    int64_t sum = 0;
    for (const auto &parameter :
         programs[facts.positionOfStage[stage]].tables.parameters)
      if (read.contains(parameter->name) && !runtime::isState(*parameter))
        sum += runtime::numElements(parameter->shape) *
               static_cast<int64_t>(
                   runtime::sizeOf(runtime::typeOf(parameter->type)));
    return sum;
  }

  /// Returns how mesh axes split one dim. The JSON list has the factors of the
  /// size of the dim, each with the mesh axes that split it. An axis is [name,
  /// pre, size], as in Shardy's sub-axes. Example: tp=2 splits the 64 of 192 =
  /// 3 · 64:
  ///
  ///   [[3], [64, ["tp", 1, 2]]]
  static Json dimJson(const dist::DimSharding &dim) {
    Json factors = Json::array();
    for (const dist::Factor &factor : dim.factors) {
      Json entry = {factor.size};
      for (const dist::SubAxis &axis : factor.axes)
        entry.push_back({axis.axis, axis.pre, axis.size});
      factors.push_back(std::move(entry));
    }
    return factors;
  }

  /// Returns a JSON list with the name, type, shape and layout (sharding) of
  /// each weight in `program`. Leaves out optimizer state.
  Json parametersJson(const program::ProgramT &program) const {
    Json list = Json::array();
    for (const auto &parameter : program.parameters) {
      if (runtime::isState(*parameter))
        continue;
      const runtime::Layout layout =
          runtime::layoutOf(*parameter->layout, facts.mesh.ranks());
      Json shape = Json::array(), dims = Json::array();
      for (size_t dim : StoredView(*parameter).order) {
        shape.push_back(parameter->shape[dim]);
        dims.push_back(dimJson(layout.dims[dim]));
      }
      list.push_back({{"name", parameter->name},
                      {"dtype", typeName(parameter->type)},
                      {"shape", std::move(shape)},
                      {"layout", std::move(dims)}});
    }
    return list;
  }

  /// Returns a JSON list with the name and the layout (sharding) of each tensor
  /// in `ports`. `ports` are the model inputs or outputs of one program. Leaves
  /// out tensors that this program neither reads nor computes: their `buffer`
  /// is -1.
  template <typename PortT>
  Json localPortsJson(const std::vector<std::unique_ptr<PortT>> &ports) const {
    Json list = Json::array();
    for (const auto &port : ports) {
      if (port->buffer < 0)
        continue;
      Json dims = Json::array();
      const runtime::Layout layout =
          runtime::layoutOf(*port->layout, facts.mesh.ranks());
      for (const dist::DimSharding &dim : layout.dims)
        dims.push_back(dimJson(dim));
      list.push_back({{"name", port->name}, {"layout", std::move(dims)}});
    }
    return list;
  }

  /// Returns the actions that the ranks with index `position` along the
  /// pipeline axis of the mesh run in one step. The list has only actions that
  /// compute for one microbatch, such as 0F3, the forward pass (F) of stage 0
  /// for microbatch 3. Messages and the weight update are not in the list.
  std::vector<std::string> actionsOfMicrobatches(int position) const {
    std::vector<std::string> actions = facts.actionsOfPosition[position];
    llvm::erase_if(actions, [](llvm::StringRef action) {
      auto parsed = plan::parseAction(action.str());
      return !parsed || !plan::isCompute(parsed->kind);
    });
    return actions;
  }

  /// Returns a JSON list with one object per index along the pipeline axis of
  /// the mesh. All ranks with the same index execute the same program. The
  /// object describes this program, for example its stages, its memory use and
  /// its number of instructions.
  Json programsJson() {
    Json list = Json::array();
    for (int position = 0; position < facts.numPositions(); ++position) {
      const program::ProgramT &program = programs[position].tables;
      int64_t instructions = 0;
      for (const auto &function : program.functions)
        instructions += static_cast<int64_t>(function->instructions.size());
      list.push_back(
          {{"position", position},
           {"stages", facts.stagesOf(position)},
           {"arena_bytes", program.arena_bytes},
           {"arena_lower_bound_bytes", program.arena_lower_bound_bytes},
           {"weight_bytes", memoryOf(programs[position]).weightBytes()},
           {"gradient_bytes", programs[position].gradientBytes},
           {"state_bytes", memoryOf(programs[position]).state},
           {"received_bytes", receivedBytes(facts, position)},
           {"instructions", instructions},
           {"actions", actionsOfMicrobatches(position)},
           {"parameters", parametersJson(program)},
           {"inputs", localPortsJson(program.inputs)},
           {"outputs", localPortsJson(program.outputs)}});
    }
    return list;
  }

  Json collectivesJson() const {
    Json list = Json::array();
    for (int stage = 0; stage < facts.numStages(); ++stage)
      for (const CollectiveFacts &collective :
           collectivesOf(facts, static_cast<int>(stage)))
        list.push_back(toJson(collective, static_cast<int64_t>(stage)));
    return list;
  }

  Json transfersJson() const {
    Json list = Json::array();
    for (const StageTransfer &transfer : facts.transfers)
      list.push_back(toJson(transfer));
    return list;
  }

  /// Returns the number of kernels in the module, and the number of ops that
  /// launch a kernel.
  Json kernelsJson() const {
    int64_t calls = 0;
    for (auto function : ModuleOp(facts.module).getOps<func::FuncOp>()) {
      calls += llvm::count_if(function.getOps(), [](Operation &op) {
        return isa<rank::LaunchOp, rank::LaunchPartsOp>(op);
      });
    }
    auto kernels = ModuleOp(facts.module).getOps<rank::KernelOp>();
    return {{"unique", std::distance(kernels.begin(), kernels.end())},
            {"calls", calls}};
  }

  const ModelFacts &facts;
  const std::vector<PositionProgram> &programs;
  FlopCounter flops;
};
} // namespace

Json emit::bundleJson(const ModelFacts &facts,
                      const std::vector<PositionProgram> &programs,
                      const runtime::Timeline &planned) {
  Json json = BundleWriter(facts, programs).write();
  json["planned_step"] = runtime::toJson(planned);
  return json;
}
