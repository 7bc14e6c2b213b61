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
/// `level` is the number of subgraphs and inlined calls that enclose a list of
/// nodes. `level` is limited, so that neither this recursion nor a later
/// recursion over the result exhausts the stack.
class FunctionInliner {
public:
  FunctionInliner(Model &model, const FunctionTable &table,
                  const ReadLimits &limits)
      : model(model), table(table), limits(limits),
        source(model, limits.messages) {}

  /// Replaces all calls in `nodes`, including those in subgraphs and in inlined
  /// bodies.
  Status inlineList(std::vector<Node> &nodes, int level);

private:
  /// If `node` is a call, appends the nodes of the function's body to `out`.
  /// Otherwise inlines the calls in the node's subgraphs and appends the node.
  Status inlineNode(Node node, std::vector<Node> &out, int level);
  /// Appends the nodes of the body of `function`, which `call` calls, to `out`.
  /// Calls in the body are inlined, too.
  Status expand(const Node &call, const Function &function,
                std::vector<Node> &out, int level);

  Model &model;
  const FunctionTable &table;
  const ReadLimits &limits;
  UniqueNames source;
};

} // namespace

/// First copies the body for this call, then inlines the calls inside the copy.
Status FunctionInliner::expand(const Node &call, const Function &function,
                               std::vector<Node> &out, int level) {
  // The inliner may add Identity nodes, which need a version of the standard
  // opset. If neither the function nor the model imports that opset, version 1
  // is enough for Identity.
  int64_t opset = opsetVersion(function.opsets, "");
  if (opset == 0)
    opset = std::max<int64_t>(1, opsetVersion(model.opsets, ""));
  PCC_ASSIGN_OR_RETURN(std::vector<Node> body,
                       CallInliner(call, function, opset, source).make());
  for (Node &node : body)
    PCC_RETURN_IF_ERROR(inlineNode(std::move(node), out, level + 1));
  return Status::success();
}

/// Chains of calls and nested subgraphs are each limited to ReadLimits::depth.
/// Both may alternate, so `level`, which counts both, is limited to twice that
/// depth.
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

/// Rejects recursion, sets opset versions, then inlines all calls. Opset
/// versions are set in the function bodies before they are copied, so that
/// every copy of a node has its version.
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
