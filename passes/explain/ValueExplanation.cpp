//===- ValueExplanation.cpp - sharding of one value, and its readers ------===//

#include "passes/explain/ValueExplanation.h"
#include "dialects/dist/NamePattern.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/TensorBytes.h"
#include "dialects/pipe/PipeDialect.h"
#include "passes/4-shard/search/Provenance.h"
#include "passes/explain/ShardingOrigin.h"
#include "sharding/ShardingText.h"
#include "llvm/ADT/MapVector.h"

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

/// Calls `use` with the name and the value for each model input, each weight,
/// the first result of each op, and each model output. The name is empty if the
/// model has none. An op result that is also a model output comes twice.
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
/// Finds the part of a training step that computes a value of one module.
class PartsOfValues {
public:
  explicit PartsOfValues(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      parts.emplace_back(function.front());
  }

  /// Returns the part that computes `value`; Forward for an input.
  graph::StepPart of(Value value) const {
    auto part = graph::StepPart::Forward;
    for (const graph::StepParts &ofFunction : parts)
      part = std::max(part, ofFunction.of(value));
    return part;
  }

private:
  std::vector<graph::StepParts> parts;
};

/// Explains values of one module. The explanation of a value states the
/// sharding of the value, the reasons for this sharding, and the readers of the
/// value. A reader is an op or an output of the model.
class ValueExplainer {
public:
  /// `parts` must outlive the explainer.
  ValueExplainer(ModuleOp module, const PartsOfValues &parts)
      : mesh(dist::meshOf(module)), readers(mesh), parts(parts) {}

  /// Returns the explanation of `value`, which the model calls `name`.
  ValueExplanation tell(const std::string &name, Value value) {
    ValueExplanation story;
    story.name = name;
    story.maker = shard::endpointOf(stripReshards(value));
    story.part = parts.of(stripReshards(value));
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

  /// Sets `sharding`, `localShape`, `localBytes` and `origins` of `story`. The
  /// time axis, which splits tensors into microbatches, has no entry in
  /// `origins`.
  void tellSharding(Value value, const dist::Sharding &sharding,
                    ValueExplanation &story) {
    story.sharding = textOf(sharding);
    story.localShape = dist::localShape(sharding, dist::shapeOf(story.shape));
    const unsigned bits = graph::tensorType(value).getElementTypeBitWidth();
    story.localBytes =
        dist::numElements(story.localShape) * std::max<int64_t>(1, bits / 8);
    for (const dist::Axis &axis : mesh.axes)
      if (axis.size > 1 && axis.name != dist::timeAxis)
        story.origins.push_back(originOf(value, axis, readers));
  }

  /// Adds one entry to `story.uses` for each op or model output that reads
  /// `value`. A reshard gets no entry; instead, the readers of its result get
  /// its communications. `before` contains the communications that have made
  /// `value`.
  void tellUses(Value value, const std::vector<dist::PricedStep> &before,
                ValueExplanation &story) {
    for (OpOperand &use : value.getUses())
      if (auto reshard = dyn_cast<dist::ReshardOp>(use.getOwner())) {
        std::vector<dist::PricedStep> steps = before;
        llvm::append_range(steps, readers.of(reshard));
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

  dist::Mesh mesh;
  /// Finds the communications that readers of a value need.
  ReaderSteps readers;
  const PartsOfValues &parts;
};
} // namespace

/// Calls `use` with the name of each ONNX node and the value that it computes
/// in `part` of a training step: the first result of the last op of this part
/// that comes from the node.
static void
forEachNode(ModuleOp module, const PartsOfValues &parts, graph::StepPart part,
            llvm::function_ref<void(const std::string &, Value)> use) {
  llvm::MapVector<StringRef, Value> results;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front().without_terminator())
      if (StringRef node = graph::nodeName(op.getLoc());
          !node.empty() && op.getNumResults() > 0 &&
          !isa<dist::ReshardOp>(op) && parts.of(op.getResult(0)) == part)
        results[node] = op.getResult(0);
  for (const auto &[node, value] : results)
    use(node.str(), value);
}

/// Calls `use` with the name of each ONNX node and the values that it computes,
/// first those of the forward pass.
static void
forEachNode(ModuleOp module, const PartsOfValues &parts,
            llvm::function_ref<void(const std::string &, Value)> use) {
  using Part = graph::StepPart;
  for (Part part : {Part::Forward, Part::Backward, Part::Update})
    forEachNode(module, parts, part, use);
}

/// Explains each value whose name matches `pattern`. An op result that is also
/// an output is explained only once.
std::vector<ValueExplanation> explain::explainValues(ModuleOp module,
                                                     StringRef pattern) {
  std::vector<ValueExplanation> stories;
  const PartsOfValues parts(module);
  ValueExplainer teller(module, parts);
  std::set<std::pair<std::string, void *>> told;
  const auto tellMatch = [&](const std::string &name, Value value) {
    if (dist::matchesName(pattern, name) &&
        told.insert({name, value.getAsOpaquePointer()}).second)
      stories.push_back(teller.tell(name, value));
  };
  forEachName(module, tellMatch);
  if (stories.empty())
    forEachNode(module, parts, tellMatch);
  return stories;
}

std::vector<std::string> explain::namesOf(ModuleOp module) {
  std::vector<std::string> names;
  const auto add = [&](const std::string &name, Value) {
    if (!name.empty())
      names.push_back(name);
  };
  forEachName(module, add);
  forEachNode(module, PartsOfValues(module), add);
  return names;
}
