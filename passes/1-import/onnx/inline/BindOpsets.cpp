//===- BindOpsets.cpp - opset versions of the nodes of a model ------------===//

#include "passes/1-import/onnx/inline/BindOpsets.h"
#include "passes/1-import/onnx/model/MessageText.h"

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// Sets Node::opset of the nodes in the main graph or in one function,
/// subgraphs included.
class OpsetBinder {
public:
  OpsetBinder(const Model &model, const FunctionTable &table,
              const Function *function)
      : model(model), table(table), function(function) {}

  Status bind(std::vector<Node> &nodes) const;

private:
  Status bindAttribute(Attribute &attribute, const Node &node) const;

  const Model &model;
  const FunctionTable &table;
  /// The function whose nodes get opset versions; null for the main graph.
  const Function *function;
};

} // namespace

Status OpsetBinder::bindAttribute(Attribute &attribute,
                                  const Node &node) const {
  if (!function && !attribute.refAttrName.empty())
    return Status::error(CannotRead, "attribute " + quoted(attribute.name) +
                                         " of node " + node.label() +
                                         " takes the value of parameter " +
                                         quoted(attribute.refAttrName) +
                                         ", but is in no function");
  for (Graph &graph : attribute.graphs)
    PCC_RETURN_IF_ERROR(bind(graph.nodes));
  return Status::success();
}

/// Sets the opset version of each node in `nodes` and in their subgraphs. The
/// imports of the function take precedence over the imports of the model. A
/// node that calls a function keeps version 0. Returns an error if neither list
/// has the domain of a node.
Status OpsetBinder::bind(std::vector<Node> &nodes) const {
  for (Node &node : nodes) {
    if (!table.calledBy(node)) {
      if (function)
        node.opset = opsetVersion(function->opsets, node.domain);
      if (node.opset == 0)
        node.opset = opsetVersion(model.opsets, node.domain);
      if (node.opset == 0)
        return Status::error(CannotRead,
                             "node " + node.label() + " is of domain " +
                                 quoted(node.domain) +
                                 ", which the model does not import");
    }
    for (Attribute &attribute : node.attributes)
      PCC_RETURN_IF_ERROR(bindAttribute(attribute, node));
  }
  return Status::success();
}

Status pcc::onnx::bindOpsets(Model &model, const FunctionTable &table) {
  for (Function &function : model.functions)
    PCC_RETURN_IF_ERROR(
        OpsetBinder(model, table, &function).bind(function.nodes));
  return OpsetBinder(model, table, nullptr).bind(model.graph.nodes);
}
