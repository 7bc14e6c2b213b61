//===- InlineFunctions.cpp - replaces calls by function bodies ------------===//

#include "passes/1-import/onnx/normalize/InlineFunctions.h"

#include "passes/1-import/onnx/normalize/BindOpsets.h"
#include "passes/1-import/onnx/normalize/CallInliner.h"
#include "passes/1-import/onnx/normalize/FunctionTable.h"

#include <algorithm>

using namespace pcc::onnx;

namespace {

/// Rebuilds lists of nodes without calls. `level` counts the subgraphs and
/// calls around a list, so that no recursion over the result is deep.
class FunctionInliner {
public:
  FunctionInliner(Model &model, const FunctionTable &table,
                  const ReadLimits &limits)
      : model(model), table(table), limits(limits),
        source(model, limits.messages) {}

  MaybeError inlineList(std::vector<Node> &nodes, int level);

private:
  MaybeError inlineNode(Node node, std::vector<Node> &out, int level);
  MaybeError expand(const Node &call, const Function &function,
                    std::vector<Node> &out, int level);

  Model &model;
  const FunctionTable &table;
  const ReadLimits &limits;
  UniqueNames source;
};

} // namespace

MaybeError FunctionInliner::expand(const Node &call, const Function &function,
                                   std::vector<Node> &out, int level) {
  // A copied output needs Identity, whose first version is enough.
  int64_t opset = opsetVersion(function.opsets, "");
  if (opset == 0)
    opset = std::max<int64_t>(1, opsetVersion(model.opsets, ""));
  Result<std::vector<Node>> body =
      CallInliner(call, function, opset, source).make();
  if (!body)
    return std::move(body.error());
  for (Node &node : *body)
    if (MaybeError error = inlineNode(std::move(node), out, level + 1))
      return error;
  return std::nullopt;
}

MaybeError FunctionInliner::inlineNode(Node node, std::vector<Node> &out,
                                       int level) {
  if (level > 2 * limits.depth)
    return Error{3,
                 "calls and subgraphs are nested more than " +
                     std::to_string(2 * limits.depth) + " deep at node " +
                     node.label(),
                 {}};
  if (const Function *function = table.calledBy(node))
    return expand(node, *function, out, level);
  for (Attribute &attribute : node.attributes)
    for (Graph &graph : attribute.graphs)
      if (MaybeError error = inlineList(graph.nodes, level + 1))
        return error;
  out.push_back(std::move(node));
  return std::nullopt;
}

MaybeError FunctionInliner::inlineList(std::vector<Node> &nodes, int level) {
  std::vector<Node> out;
  out.reserve(nodes.size());
  for (Node &node : nodes)
    if (MaybeError error = inlineNode(std::move(node), out, level))
      return error;
  nodes = std::move(out);
  return std::nullopt;
}

MaybeError pcc::onnx::inlineFunctions(Model &model, const ReadLimits &limits) {
  FunctionTable table;
  if (MaybeError error = table.fill(model.functions))
    return error;
  if (MaybeError error = checkCalls(model.functions, table, limits.depth))
    return error;
  if (MaybeError error = bindOpsets(model, table))
    return error;
  if (model.functions.empty())
    return std::nullopt;
  FunctionInliner inliner(model, table, limits);
  if (MaybeError error = inliner.inlineList(model.graph.nodes, 0))
    return error;
  model.functions.clear();
  return std::nullopt;
}
