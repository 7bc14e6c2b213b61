//===- InlineFunctions.cpp - inlining of all ONNX functions ---------------===//

#include "passes/1-import/onnx/inline/InlineFunctions.h"

#include "passes/1-import/onnx/inline/BindOpsets.h"
#include "passes/1-import/onnx/inline/CallInliner.h"
#include "passes/1-import/onnx/inline/FunctionTable.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// Replaces all function calls in lists of nodes by the nodes of the functions'
/// bodies. The parameter `level` of the methods counts the subgraphs and the
/// inlined calls that enclose a node. Example: a node of the main graph has
/// level 0. A node in a branch of an If node of the main graph has level 1. The
/// methods limit the level, so that their recursion cannot exhaust the stack.
class FunctionInliner {
public:
  FunctionInliner(Model &model, const FunctionTable &table,
                  const ReadLimits &limits)
      : model(model), table(table), limits(limits),
        source(model, limits.messages) {}

  /// Replaces each function call in `nodes` by the nodes of the function's
  /// body. Replaces calls in subgraphs of `nodes` and in the inserted bodies,
  /// too. `level` is the number of subgraphs and inlined calls that enclose
  /// `nodes`: 0 for the nodes of the main graph.
  Status inlineList(std::vector<Node> &nodes, int level);

private:
  /// Appends `node` to `out`, with all calls inlined. If `node` is a call,
  /// appends the nodes of the function's body instead of the node. Otherwise
  /// inlines the calls in subgraphs of the node, and then appends the node.
  /// `level` is the number of subgraphs and inlined calls that enclose `node`.
  Status inlineNode(Node node, std::vector<Node> &out, int level);
  /// Appends the nodes of the body of `function` to `out`. These nodes replace
  /// `call`, a node that calls the function. If the body contains calls,
  /// inlines these calls, too. `level` is the number of subgraphs and inlined
  /// calls that enclose `call`.
  Status expand(const Node &call, const Function &function,
                std::vector<Node> &out, int level);

  Model &model;
  const FunctionTable &table;
  const ReadLimits &limits;
  UniqueNames source;
};

} // namespace

Status FunctionInliner::expand(const Node &call, const Function &function,
                               std::vector<Node> &out, int level) {
  // The inliner may add Identity nodes to the body. For example, it adds one if
  // an input of the function is also an output of the function. `opset` is the
  // opset version of the Identity nodes. A function lists a version for each
  // operator domain that it uses. Take the version that the function lists for
  // the standard ONNX domain (""). If there is none, take the version that the
  // model lists. If the model lists none either, take version 1.
  int64_t opset = opsetVersion(function.opsets, "");
  if (opset == 0)
    opset = std::max<int64_t>(1, opsetVersion(model.opsets, ""));
  PCC_ASSIGN_OR_RETURN(std::vector<Node> body,
                       CallInliner(call, function, opset, source).make());
  for (Node &node : body)
    PCC_RETURN_IF_ERROR(inlineNode(std::move(node), out, level + 1));
  return Status::success();
}

/// Appends `node` to `out`, with all function calls inlined. `level` is the
/// number of subgraphs and inlined calls that enclose `node`. Returns an error
/// if `level` exceeds 2 * `limits.depth`, because the recursion could exhaust
/// the stack.
Status FunctionInliner::inlineNode(Node node, std::vector<Node> &out,
                                   int level) {
  if (level > 2 * limits.depth)
    return Status::error(CannotRead,
                         "calls and subgraphs are nested more than " +
                             std::to_string(2 * limits.depth) +
                             " deep at node " + node.label());
  if (const Function *function = table.calledBy(node))
    return expand(node, *function, out, level);
  for (Attribute &attribute : node.attributes)
    for (Graph &graph : attribute.graphs)
      PCC_RETURN_IF_ERROR(inlineList(graph.nodes, level + 1));
  out.push_back(std::move(node));
  return Status::success();
}

Status FunctionInliner::inlineList(std::vector<Node> &nodes, int level) {
  std::vector<Node> out;
  out.reserve(nodes.size());
  for (Node &node : nodes)
    PCC_RETURN_IF_ERROR(inlineNode(std::move(node), out, level));
  nodes = std::move(out);
  return Status::success();
}

/// Inlines all function calls of the model in two steps. Step 1 sets the opset
/// version of each node. Step 2 replaces each call by copies of the function's
/// nodes. Step 1 must come first: a function can have its own list of opset
/// versions, which applies to the nodes of the function. After step 2, a copied
/// node no longer belongs to a function, but the node keeps its version.
Status pcc::onnx::inlineFunctions(Model &model, const ReadLimits &limits) {
  FunctionTable table;
  PCC_RETURN_IF_ERROR(table.fill(model.functions));
  PCC_RETURN_IF_ERROR(checkCalls(model.functions, table, limits.depth));
  PCC_RETURN_IF_ERROR(bindOpsets(model, table));
  if (model.functions.empty())
    return Status::success();
  FunctionInliner inliner(model, table, limits);
  PCC_RETURN_IF_ERROR(inliner.inlineList(model.graph.nodes, 0));
  model.functions.clear();
  return Status::success();
}
