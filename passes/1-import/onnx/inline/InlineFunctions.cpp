//===- InlineFunctions.cpp - inlining of all ONNX functions ---------------===//

#include "passes/1-import/onnx/inline/InlineFunctions.h"

#include "passes/1-import/onnx/inline/BindOpsets.h"
#include "passes/1-import/onnx/inline/CallInliner.h"
#include "passes/1-import/onnx/inline/FunctionTable.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// Replaces all function calls in lists of nodes by the functions' bodies.
/// `level` counts the subgraphs and inlined calls around a list. The level is
/// limited, so that recursion cannot exhaust the stack.
class FunctionInliner {
public:
  FunctionInliner(Model &model, const FunctionTable &table,
                  const ReadLimits &limits)
      : model(model), table(table), limits(limits),
        source(model, limits.messages) {}

  /// Replaces each function call in `nodes` by the nodes of the function's
  /// body. Includes calls in subgraphs and in the inserted bodies.
  Status inlineList(std::vector<Node> &nodes, int level);

private:
  /// If `node` is a call, appends the nodes of the function's body to `out`.
  /// Otherwise inlines the calls in the node's subgraphs and appends the node.
  Status inlineNode(Node node, std::vector<Node> &out, int level);
  /// Appends the nodes of the body of `function` to `out`, in place of `call`.
  /// Calls in the body are inlined, too.
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
  // `opset` is the opset version of the Identity nodes that the inliner may
  // add. Take the version of the standard domain that the function imports,
  // else the version that the model imports, else version 1.
  int64_t opset = opsetVersion(function.opsets, "");
  if (opset == 0)
    opset = std::max<int64_t>(1, opsetVersion(model.opsets, ""));
  PCC_ASSIGN_OR_RETURN(std::vector<Node> body,
                       CallInliner(call, function, opset, source).make());
  for (Node &node : body)
    PCC_RETURN_IF_ERROR(inlineNode(std::move(node), out, level + 1));
  return Status::success();
}

/// Returns an error if `level` exceeds twice ReadLimits::depth. `level` is the
/// number of function calls and subgraphs that enclose `node`.
/// ReadLimits::depth limits the nesting of subgraphs in the file, and the
/// length of a chain of calls. `level` counts both.
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

/// Sets the opset version of each node before the inlining, which copies nodes
/// together with their versions.
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
