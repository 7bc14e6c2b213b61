//===- ValueExplanation.cpp - sharding of one value, and its readers ------===//

#include "passes/explain/ValueExplanation.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/explain/ShardingOrigin.h"
#include "sharding/ShardingText.h"

#include <set>

using namespace mlir;
using namespace pcc;
using namespace pcc::explain;

/// Returns the string in `attribute`; empty if `attribute` is null or no
/// StringAttr.
static std::string textOf(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.str() : "";
}

/// Calls `use` once for each of these values of the model in `module`:
///
///  - each input of the model
///  - each weight of the model
///  - the first result of each op
///  - each output of the model
///
/// The first argument of `use` is the name of the value in the model, such as
/// "fc1". This name is empty if the value has no name in the model. The second
/// argument of `use` is the value. The function calls `use` twice for an op
/// result that is also an output of the model.
static void
forEachName(ModuleOp module,
            llvm::function_ref<void(const std::string &, Value)> use) {
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto [i, argument] : llvm::enumerate(function.getArguments()))
      use(textOf(function.getArgAttr(i, graph::nameName)), argument);
    for (Operation &op : function.front().without_terminator())
      if (auto get = dyn_cast<graph::GetParameterOp>(op))
        use(get.getParameter().str(), get);
      else if (op.getNumResults() > 0)
        use(textOf(op.getAttr(graph::nameName)), op.getResult(0));
    for (auto [i, result] :
         llvm::enumerate(function.front().getTerminator()->getOperands()))
      use(textOf(function.getResultAttr(i, graph::nameName)), result);
  }
}

namespace {
/// Explains values of one module. The explanation of a value states the
/// sharding of the value, the reasons for this sharding, and the readers of the
/// value. A reader is an op or an output of the model.
class ValueExplainer {
public:
  explicit ValueExplainer(ModuleOp module)
      : mesh(dist::meshOf(module)), planner(mesh) {}

  /// Returns the explanation of `value`, which the model calls `name`.
  ValueExplanation tell(const std::string &name, Value value) {
    ValueExplanation story;
    story.name = name;
    story.maker = shard::endpointOf(stripReshards(value));
    story.stage =
        value.getDefiningOp() ? pipe::stageOf(value.getDefiningOp()) : 0;
    auto type = graph::tensorType(value);
    story.dtype = dtypeOf(type.getElementType());
    story.shape = type.getShape().vec();
    if (dist::ShardingAttr sharding = dist::shardingOf(value))
      tellSharding(value, sharding.getSharding(), story);
    tellUses(value, {}, story);
    return story;
  }

private:
  /// Formats an element type, such as "f32".
  static std::string dtypeOf(Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }

  /// Formats a sharding as text. Example: "[tp, -]" means that the mesh axis tp
  /// splits dim 0 of a tensor and that no axis splits dim 1. The mesh may also
  /// have an axis `mb`, the time axis. The axis `mb` splits a tensor into
  /// microbatches, and not over ranks. The text does not contain the axis `mb`.
  std::string textOf(const dist::Sharding &sharding) const {
    return dist::toBriefString(dist::withoutTime(sharding), mesh);
  }

  /// Sets four members of `story`, the explanation of `value`. `sharding` is
  /// the sharding of `value`. The members are:
  ///
  ///  - `sharding`: the sharding as text
  ///  - `localShape`: the shape of the part of `value` that one rank has
  ///  - `localBytes`: the number of bytes of this part
  ///  - `origins`: one entry for each mesh axis whose size is greater than 1.
  ///    The entry contains the effect of the mesh axis on `value`, and the
  ///    reason for this effect. There is no entry for the time axis. The time
  ///    axis is a mesh axis that splits tensors into microbatches, and not over
  ///    ranks.
  void tellSharding(Value value, const dist::Sharding &sharding,
                    ValueExplanation &story) const {
    story.sharding = textOf(sharding);
    story.localShape = dist::localShape(sharding, dist::shapeOf(story.shape));
    const unsigned bits = graph::tensorType(value).getElementTypeBitWidth();
    story.localBytes =
        dist::numElements(story.localShape) * std::max<int64_t>(1, bits / 8);
    for (const dist::Axis &axis : mesh.axes)
      if (axis.size > 1 && axis.name != dist::timeAxis)
        story.origins.push_back(originOf(value, axis));
  }

  /// Adds one entry to `story.uses` for each op or model output that reads
  /// `value`. A reshard, which copies a value into another sharding, gets no
  /// entry; the function calls itself for its result instead. `before` lists
  /// the communications that have made the copy `value`, such as an all_gather;
  /// empty if `value` is no copy. Example: a relu reads x, and a matmul reads
  /// an all-gathered copy of x. The relu gets no communication, and the matmul
  /// gets the all_gather.
  void tellUses(Value value, const std::vector<dist::PricedStep> &before,
                ValueExplanation &story) {
    for (OpOperand &use : value.getUses())
      if (auto reshard = dyn_cast<dist::ReshardOp>(use.getOwner())) {
        std::vector<dist::PricedStep> steps = before;
        addSteps(reshard, steps);
        tellUses(reshard.getResult(), steps, story);
      } else {
        dist::ShardingAttr taken = dist::shardingOf(value);
        story.uses.push_back({shard::endpointOf(use), stageOf(use),
                              taken ? textOf(taken.getSharding()) : "",
                              before});
      }
  }

  /// Returns the number of the pipeline stage that reads a value by `use`. A
  /// transfer to another stage counts as a read on the receiving stage. The
  /// return op counts as a read on the stage that computes or has received the
  /// value, or on stage 0 if the value is a model input.
  static int64_t stageOf(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op))
      op = use.get().getDefiningOp();
    if (auto transfer = dyn_cast_or_null<pipe::TransferOp>(op))
      return static_cast<int64_t>(transfer.getTo());
    return op ? pipe::stageOf(op) : 0;
  }

  /// Appends to `steps` the communications between ranks that `reshard` needs.
  /// `reshard` is an op that changes the sharding of a value. It may need an
  /// all_gather, for example. It needs no communication if each rank only keeps
  /// a part of the elements that the rank already has.
  void addSteps(dist::ReshardOp reshard, std::vector<dist::PricedStep> &steps) {
    auto type = graph::tensorType(reshard.getInput());
    const plan::ReshardPlan &plan = planner.plan(
        reshard.getFrom().getSharding(), reshard.getTo().getSharding(),
        dist::shapeOf(type.getShape()), graph::elementBytes(type));
    for (const plan::ReshardStep &step : plan.steps)
      if (dist::communicates(step.kind))
        steps.push_back(shard::pricedStep(step, mesh));
  }

  dist::Mesh mesh;
  plan::ReshardPlanner planner;
};
} // namespace

/// Explains each value whose name matches `pattern`. An op result that is also
/// an output is explained only once.
std::vector<ValueExplanation> explain::explainValues(ModuleOp module,
                                                     StringRef pattern) {
  std::vector<ValueExplanation> stories;
  ValueExplainer teller(module);
  std::set<std::pair<std::string, void *>> told;
  forEachName(module, [&](const std::string &name, Value value) {
    if (dist::matchesName(pattern, name) &&
        told.insert({name, value.getAsOpaquePointer()}).second)
      stories.push_back(teller.tell(name, value));
  });
  return stories;
}

std::vector<std::string> explain::findSimilarNames(ModuleOp module,
                                                   StringRef name) {
  std::set<std::pair<unsigned, std::string>> ranked;
  forEachName(module, [&](const std::string &own, Value) {
    if (!own.empty())
      ranked.insert({name.edit_distance(own), own});
  });
  std::vector<std::string> names;
  for (const auto &[distance, own] : ranked)
    if (names.size() < 3)
      names.push_back(own);
  return names;
}
