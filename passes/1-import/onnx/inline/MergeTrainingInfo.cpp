//===- MergeTrainingInfo.cpp - inference and training as one graph --------===//

#include "passes/1-import/onnx/inline/MergeTrainingInfo.h"

using namespace pcc;
using namespace pcc::onnx;

std::string pcc::onnx::initializationName(std::string_view output) {
  return "initialization/" + std::string(output);
}

/// Adds the prefix "initialization/" to value names in `graph`, the graph that
/// computes the initial values of weights. For example, the name w becomes
/// "initialization/w". Without the prefix, a name could also occur in the
/// model's main graph, to which the nodes of `graph` are added later. Renames
/// initializers, and operands and results of nodes. Does not rename sparse
/// initializers. Does not change names inside subgraphs. The object `model`
/// stores the new names.
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

/// Merges the two graphs of the model's TrainingInfo into the main graph
/// `model.graph`. TrainingInfo is the part of an ONNX model that describes the
/// training of the model. Its graph `initialization` computes the initial
/// values of weights. Its graph `algorithm` computes one training step.
///
/// Adds the nodes and the initializers of both graphs to the main graph. Adds
/// the inputs, the outputs and the value types of `algorithm`, too. The graph
/// `initialization` must not have inputs, and its outputs are not added. The
/// nodes are then numbered from 0 in their new order: the member `index` of
/// each node is set to the new number.
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
