//===- InlineFunctions.cpp - inlining of all ONNX functions ---------------===//

#include "passes/1-import/onnx/normalize/InlineFunctions.h"

#include "passes/1-import/onnx/normalize/BindOpsets.h"
#include "passes/1-import/onnx/normalize/CallInliner.h"
#include "passes/1-import/onnx/normalize/FunctionTable.h"

#include <algorithm>

using namespace pcc::onnx;

namespace {

/// Rebuilds node lists with calls replaced by function bodies. `level` counts
/// the subgraphs and calls that enclose a list. The level is limited, so that
/// neither this recursion nor a later one over the result exhausts the stack.
class FunctionInliner {
public:
  FunctionInliner(Model &model, const FunctionTable &table,
                  const ReadLimits &limits)
      : model(model), table(table), limits(limits),
        source(model, limits.messages) {}

  /// Inlines all calls in `nodes`.
  MaybeError inlineList(std::vector<Node> &nodes, int level);

private:
  /// Appends `node` to `out`; in place of a call, appends the expanded body.
  MaybeError inlineNode(Node node, std::vector<Node> &out, int level);
  /// Appends the body of `function`, with further calls inlined, to `out`.
  MaybeError expand(const Node &call, const Function &function,
                    std::vector<Node> &out, int level);

  Model &model;
  const FunctionTable &table;
  const ReadLimits &limits;
  UniqueNames source;
};

} // namespace

/// Creates a copy of the body for one call, then expands the calls inside the
/// copy.
MaybeError FunctionInliner::expand(const Node &call, const Function &function,
                                   std::vector<Node> &out, int level) {
  // Identity nodes need a version of the standard opset. If neither the
  // function nor the model imports the opset, version 1 of Identity is
  // sufficient.
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

/// Expands one node. The nesting limit is twice ReadLimits::depth: calls and
/// subgraphs are each limited to that depth, and they can alternate.
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

/// Rejects recursion, then binds opsets, then expands calls. Opsets are bound
/// in the function bodies, so that every copy of a node has its version.
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
