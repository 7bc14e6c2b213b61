//===- CallInliner.cpp - inlining of one ONNX function call ---------------===//

#include "passes/1-import/onnx/inline/CallInliner.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "status/Counted.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::onnx;

//===----------------------------------------------------------------------===//
// Names and the budget
//===----------------------------------------------------------------------===//

UniqueNames::UniqueNames(Model &model, uint64_t budget)
    : model(model), budget(budget) {
  take(model.graph);
}

void UniqueNames::take(const Graph &graph) {
  for (const ValueInfo &input : graph.inputs)
    taken.insert(input.name);
  for (const Tensor &tensor : graph.initializers)
    taken.insert(tensor.name);
  for (const SparseTensor &tensor : graph.sparseInitializers)
    taken.insert(tensor.values.name);
  for (const Node &node : graph.nodes) {
    taken.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute &attribute : node.attributes)
      for (const Graph &inner : attribute.graphs)
        take(inner);
  }
}

bool UniqueNames::spend(uint64_t cost) {
  const bool enough = cost <= budget;
  budget = enough ? budget - cost : 0;
  return enough;
}

std::string_view UniqueNames::keep(std::string name) {
  return model.intern(std::move(name));
}

std::string_view UniqueNames::fresh(const std::string &wanted) {
  std::string name = wanted;
  while (taken.count(name))
    name = wanted + "_" + std::to_string(++suffix);
  return *taken.insert(keep(std::move(name))).first;
}

/// Estimates how much memory a copy of `node` takes. The unit of the result is
/// 16 bytes. Example: a node with three operands and without attributes counts
/// 11 units: 8 for the node itself and 1 for each operand.
static uint64_t costOf(const Node &node);

/// Estimates how much memory a copy of `attribute` takes. The unit of the
/// result is 16 bytes. Example: an attribute with a list of three integers
/// counts 7 units: 4 for the attribute itself and 1 for each integer. The
/// elements of a numeric tensor do not count, because the copy refers to the
/// elements of the original.
static uint64_t costOf(const Attribute &attribute) {
  uint64_t cost = 4 + attribute.floats.size() + attribute.ints.size() +
                  attribute.strings.size() + attribute.types.size() +
                  attribute.sparseTensors.size();
  for (const Tensor &tensor : attribute.tensors)
    cost += 4 + tensor.dims.size() + tensor.strings.size();
  for (const Graph &graph : attribute.graphs) {
    cost += graph.inputs.size() + graph.outputs.size() +
            graph.initializers.size() + graph.valueInfos.size();
    for (const Node &node : graph.nodes)
      cost += costOf(node);
  }
  return cost;
}

static uint64_t costOf(const Node &node) {
  uint64_t cost = 8 + node.inputs.size() + node.metadata.size();
  for (const Attribute &attribute : node.attributes)
    cost += costOf(attribute);
  return cost;
}

//===----------------------------------------------------------------------===//
// Copying the body
//===----------------------------------------------------------------------===//

CallInliner::CallInliner(const Node &call, const Function &function,
                         int64_t opset, UniqueNames &source)
    : call(call), function(function), opset(opset), source(source),
      prefix(call.name.empty()
                 ? std::string(call.opType) + "_" + std::to_string(call.index)
                 : std::string(call.name)) {
  prefix += "/";
}

void CallInliner::fail(std::string message, ExitCode code) {
  if (error.ok())
    error = Status::error(code, std::move(message));
}

void CallInliner::bindInputs() {
  for (size_t i = 0; i < function.inputs.size(); ++i)
    names[function.inputs[i]] =
        i < call.inputs.size() ? call.inputs[i] : std::string_view();
}

/// Adds an entry to the map `names` for each output of the function. The entry
/// maps the name of the output to the name of the call's result. An output that
/// already has an entry, such as a in f(a) => (a), goes to the list `forwarded`
/// instead. make() adds an Identity node for each element of this list.
void CallInliner::bindOutputs() {
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const std::string_view inside = function.outputs[i];
    const std::string_view outside = call.outputs[i];
    if (outside.empty() || names.emplace(inside, outside).second)
      continue;
    forwarded.emplace_back(inside, outside);
    if (names[inside].empty())
      fail("output " + quoted(outside) + " of node " + call.label() +
           " is an input that the node leaves out");
  }
}

void CallInliner::define(std::string_view &name) {
  if (name.empty())
    return;
  std::string wanted = prefix + std::string(name);
  if (!source.spend(2 + wanted.size() / 16))
    fail("the functions of the model are too large when inlined");
  const std::string_view fresh = source.fresh(wanted);
  names[name] = fresh;
  name = fresh;
}

void CallInliner::rename(std::string_view &name) const {
  if (const auto found = names.find(name); found != names.end())
    name = found->second;
}

const Attribute *CallInliner::argument(std::string_view parameter) const {
  if (const Attribute *given = call.attribute(parameter))
    return given;
  for (const Attribute &value : function.attributeDefaults)
    if (value.name == parameter)
      return &value;
  return nullptr;
}

/// Gives `attribute` the value of the function parameter to which it refers.
/// Example: in a function, the attribute axis=@d refers to the parameter d. If
/// the call passes d=2, the attribute becomes axis=2. If the parameter has no
/// value, leaves `attribute` unchanged: it still refers to the parameter.
/// bindAttributes then erases the attribute from the node.
void CallInliner::bindAttribute(Attribute &attribute) {
  const Attribute *value = argument(attribute.refAttrName);
  if (!value)
    return;
  const std::string what = "parameter " + quoted(attribute.refAttrName) +
                           " of function " + function.label();
  if (!value->graphs.empty()) {
    fail(what + " is a graph, which is not supported", Unsupported);
  } else if (attribute.type != AttributeType::Undefined &&
             attribute.type != value->type) {
    fail(what + " needs type " +
         std::to_string(static_cast<int>(attribute.type)) + ", got " +
         std::to_string(static_cast<int>(value->type)) + " from node " +
         call.label());
  } else if (!source.spend(costOf(*value))) {
    fail("the functions of the model are too large when inlined");
  } else {
    const std::string_view name = attribute.name;
    attribute = *value;
    attribute.name = name;
    attribute.refAttrName = {};
  }
}

void CallInliner::bindAttributes(Node &node) {
  for (Attribute &attribute : node.attributes)
    if (!attribute.refAttrName.empty())
      bindAttribute(attribute);
  std::erase_if(node.attributes,
                [](const Attribute &a) { return !a.refAttrName.empty(); });
}

/// Gives new names to the values and the nodes of `graph`, a subgraph of a
/// copied node. Renames the inputs and the initializers of `graph` first, and
/// adds an entry to the map `names` for each, from the old name to the new one.
/// The nodes come second, because renameNode() looks up their operands in the
/// map.
void CallInliner::renameGraph(Graph &graph) {
  // Names that the inputs of the graph had before the renaming. An initializer
  // may have the name of an input; it is then the default value of the input.
  // The code below gives this initializer the new name of the input. Each other
  // initializer gets a new name of its own.
  std::unordered_set<std::string_view> inputs;
  for (ValueInfo &input : graph.inputs) {
    inputs.insert(input.name);
    define(input.name);
  }
  const auto initializer = [&](Tensor &tensor) {
    inputs.count(tensor.name) ? rename(tensor.name) : define(tensor.name);
  };
  for (Tensor &tensor : graph.initializers)
    initializer(tensor);
  for (SparseTensor &tensor : graph.sparseInitializers)
    initializer(tensor.values);
  for (Node &node : graph.nodes)
    renameNode(node, /*inBody=*/false);
  for (ValueInfo &info : graph.valueInfos)
    rename(info.name);
  for (ValueInfo &output : graph.outputs) {
    rename(output.name);
    if (output.name.empty())
      fail("an output of a graph in function " + function.label() +
           " is an input that node " + call.label() + " leaves out");
  }
}

/// Renames a copied node, its operands and its results. `inBody` is true for a
/// node of the function's body, and false for a node of a subgraph in the body.
/// If `inBody` is true, a result that is an output of the function gets the
/// name of the call's result. Every other result gets a new, unused name.
void CallInliner::renameNode(Node &node, bool inBody) {
  bindAttributes(node);
  std::string name = prefix;
  name += node.name.empty()
              ? std::string(node.opType) + "_" + std::to_string(node.index)
              : std::string(node.name);
  if (!source.spend(2 + name.size() / 16))
    fail("the functions of the model are too large when inlined");
  if (error.failed())
    return;
  node.name = source.keep(std::move(name));
  node.index = call.index;
  for (std::string_view &input : node.inputs)
    rename(input);
  while (!node.inputs.empty() && node.inputs.back().empty())
    node.inputs.pop_back();
  for (Attribute &attribute : node.attributes)
    for (Graph &graph : attribute.graphs)
      renameGraph(graph);
  for (std::string_view &output : node.outputs)
    inBody &&names.count(output) ? rename(output) : define(output);
  for (NodeDeviceConfiguration &devices : node.deviceConfigurations)
    for (ShardingSpec &spec : devices.shardingSpecs)
      rename(spec.tensorName);
  inheritDevices(node);
}

/// Copies the pipeline stage and the shardings of the call to `node`, a node of
/// the copied function body, for each device configuration (named set of
/// devices). The stage and the shardings that `node` already has stay. A
/// sharding is only copied if `node` reads or defines the sharded tensor. A new
/// annotation without a stage and without shardings is not added.
void CallInliner::inheritDevices(Node &node) const {
  const auto touches = [&](const ShardingSpec &spec) {
    return std::count(node.inputs.begin(), node.inputs.end(),
                      spec.tensorName) ||
           std::count(node.outputs.begin(), node.outputs.end(),
                      spec.tensorName);
  };
  for (const NodeDeviceConfiguration &devices : call.deviceConfigurations) {
    NodeDeviceConfiguration merged{devices.configurationId, {}, {}};
    const auto own =
        std::find_if(node.deviceConfigurations.begin(),
                     node.deviceConfigurations.end(), [&](const auto &other) {
                       return other.configurationId == devices.configurationId;
                     });
    if (own != node.deviceConfigurations.end())
      merged = std::move(*own);
    if (!merged.pipelineStage)
      merged.pipelineStage = devices.pipelineStage;
    for (const ShardingSpec &spec : devices.shardingSpecs)
      if (touches(spec) &&
          std::none_of(merged.shardingSpecs.begin(), merged.shardingSpecs.end(),
                       [&](const ShardingSpec &other) {
                         return other.tensorName == spec.tensorName;
                       }))
        merged.shardingSpecs.push_back(spec);
    if (own != node.deviceConfigurations.end())
      *own = std::move(merged);
    else if (merged.pipelineStage || !merged.shardingSpecs.empty())
      node.deviceConfigurations.push_back(std::move(merged));
  }
}

void CallInliner::forward(std::string_view from, std::string_view to) {
  Node node;
  node.name = source.keep(prefix + "Identity");
  node.opType = "Identity";
  node.opset = opset;
  node.index = call.index;
  node.inputs = {from};
  node.outputs = {to};
  inheritDevices(node);
  nodes.push_back(std::move(node));
}

/// Copies the nodes of the function and renames the copies. The object `source`
/// holds a budget: the total size of the nodes and names that the inlining of
/// all calls may still add to the model. Before each copy, subtracts the size
/// of the node from the budget. Returns an error if the budget is smaller than
/// the size of the node.
StatusOr<std::vector<Node>> CallInliner::make() {
  if (call.inputs.size() > function.inputs.size() ||
      call.outputs.size() > function.outputs.size())
    fail("node " + call.label() + " has " +
         counted(call.inputs.size(), "input") + " and " +
         counted(call.outputs.size(), "output") + ", its function has " +
         std::to_string(function.inputs.size()) + " and " +
         std::to_string(function.outputs.size()));
  if (error.ok()) {
    bindInputs();
    bindOutputs();
  }
  for (const Node &original : function.nodes) {
    if (error.ok() && !source.spend(costOf(original)))
      fail("the functions of the model are too large when inlined");
    if (error.failed())
      return error;
    nodes.push_back(original);
    renameNode(nodes.back(), /*inBody=*/true);
  }
  if (error.failed())
    return error;
  for (const auto &[inside, outside] : forwarded)
    forward(names[inside], outside);
  return std::move(nodes);
}
