//===- MergeTrainingInfo.cpp - inference and training as one graph --------===//

#include "passes/1-import/onnx/inline/MergeTrainingInfo.h"

using namespace pcc;
using namespace pcc::onnx;

std::string pcc::onnx::initializationName(std::string_view output) {
  return "initialization/" + std::string(output);
}

/// Adds the prefix "initialization/" to the value names in `graph`, so that
/// they differ from the names in the main graph. Does not rename sparse
/// initializers or names inside subgraphs. `model` stores the new names.
static void rename(Model &model, Graph &graph) {
  auto change = [&](std::string_view &name) {
    if (!name.empty())
      name = model.intern(initializationName(name));
  };
  for (Tensor &tensor : graph.initializers)
    change(tensor.name);
  for (Node &node : graph.nodes) {
    for (std::string_view &name : node.inputs)
      change(name);
    for (std::string_view &name : node.outputs)
      change(name);
  }
}

/// Appends a copy of each element of `from` to `to`.
template <typename T>
static void append(std::vector<T> &to, const std::vector<T> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Adds the nodes and initializers of the TrainingInfo's graphs
/// `initialization` and `algorithm` to the main graph. Also adds the inputs,
/// outputs and value types of `algorithm`. Renumbers all nodes from 0 in their
/// new order.
Status pcc::onnx::mergeTrainingInfo(Model &model) {
  if (model.training.empty())
    return Status::success();
  if (model.training.size() > 1)
    return Status::error(
        Unsupported, "the model has " + std::to_string(model.training.size()) +
                         " TrainingInfos, but at most one is supported");
  Graph first = model.training[0].initialization;
  if (!first.inputs.empty())
    return Status::error(
        CannotRead, "the initialization of the model's training has inputs");
  rename(model, first);
  const Graph &step = model.training[0].algorithm;
  Graph &graph = model.graph;
  graph.nodes.insert(graph.nodes.begin(), first.nodes.begin(),
                     first.nodes.end());
  append(graph.nodes, step.nodes);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    graph.nodes[i].index = static_cast<uint32_t>(i);
  append(graph.initializers, first.initializers);
  append(graph.initializers, step.initializers);
  append(graph.sparseInitializers, first.sparseInitializers);
  append(graph.sparseInitializers, step.sparseInitializers);
  append(graph.inputs, step.inputs);
  append(graph.outputs, step.outputs);
  append(graph.valueInfos, step.valueInfos);
  return Status::success();
}
