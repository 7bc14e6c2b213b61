//===- FunctionTable.cpp - lookup of ONNX functions by call ---------------===//

#include "passes/1-import/onnx/inline/FunctionTable.h"

#include <algorithm>

using namespace pcc;
using namespace pcc::onnx;

Status FunctionTable::fill(const std::vector<Function> &functions) {
  for (const Function &function : functions) {
    const Key key{function.domain, function.name, function.overload};
    if (!byKey.emplace(key, &function).second)
      return Status::error(CannotRead, "function " + function.label() +
                                           " is defined twice");
  }
  return Status::success();
}

const Function *FunctionTable::calledBy(const Node &node) const {
  if (byKey.empty())
    return nullptr;
  const auto found = byKey.find({node.domain, node.opType, node.overload});
  return found == byKey.end() ? nullptr : found->second;
}

namespace {

/// Checks the function calls of a model. Finds a function that calls itself,
/// directly or through other functions, and calls that are nested more than
/// `depth` functions deep. The traversal is depth-first. `path` holds the
/// functions that the traversal has entered and not yet left.
class CallGraphWalk {
public:
  CallGraphWalk(const FunctionTable &table, int depth)
      : table(table), depth(depth) {}

  /// Visits `function` and all functions that it calls, directly or through
  /// other functions. Returns an error if a function calls itself, or if calls
  /// are nested more than `depth` functions deep.
  Status enter(const Function &function);

private:
  /// Appends to `callees` the functions that `nodes` and their subgraphs call.
  void collect(const std::vector<Node> &nodes,
               std::vector<const Function *> &callees) const;
  /// Returns an error which says that `function` calls itself. The message
  /// names the functions on the way, such as "function A calls itself, through
  /// B" if A calls B and B calls A.
  Status circle(const Function &function) const;
  /// Returns an error if calls are nested more than `depth` functions deep. The
  /// nesting consists of the functions in `path`, each of which calls the next
  /// one, and of `below` further functions inside the last one.
  Status checkDepth(int below) const;

  const FunctionTable &table;
  const int depth;
  std::vector<const Function *> path;
  /// For each visited function: the number of functions in its deepest nesting
  /// of calls, which includes the function itself. For example, if f calls g,
  /// and g calls no function, the number is 2 for f and 1 for g.
  std::unordered_map<const Function *, int> height;
};

} // namespace

void CallGraphWalk::collect(const std::vector<Node> &nodes,
                            std::vector<const Function *> &callees) const {
  for (const Node &node : nodes) {
    if (const Function *callee = table.calledBy(node))
      callees.push_back(callee);
    for (const Attribute &attribute : node.attributes)
      for (const Graph &graph : attribute.graphs)
        collect(graph.nodes, callees);
  }
}

Status CallGraphWalk::circle(const Function &function) const {
  std::string text = "function " + function.label() + " calls itself";
  auto step = std::find(path.begin(), path.end(), &function) + 1;
  for (; step != path.end(); ++step)
    text += ", through " + (*step)->label();
  return Status::error(CannotRead, std::move(text));
}

Status CallGraphWalk::checkDepth(int below) const {
  if (static_cast<int>(path.size()) + below <= depth)
    return Status::success();
  return Status::error(CannotRead, "functions call each other more than " +
                                       std::to_string(depth) +
                                       " deep, beginning with " +
                                       path.front()->label());
}

/// Visits `function` and all functions that it calls. Returns an error if a
/// function calls itself, or if calls are nested more than `depth` functions
/// deep. Sets the `height` of `function`, so that it is visited only once.
Status CallGraphWalk::enter(const Function &function) {
  if (std::find(path.begin(), path.end(), &function) != path.end())
    return circle(function);
  if (const auto known = height.find(&function); known != height.end())
    return path.empty() ? Status::success() : checkDepth(known->second);
  path.push_back(&function);
  PCC_RETURN_IF_ERROR(checkDepth(0));
  std::vector<const Function *> callees;
  collect(function.nodes, callees);
  std::sort(callees.begin(), callees.end());
  callees.erase(std::unique(callees.begin(), callees.end()), callees.end());
  int longest = 0;
  for (const Function *callee : callees) {
    PCC_RETURN_IF_ERROR(enter(*callee));
    longest = std::max(longest, height[callee]);
  }
  path.pop_back();
  height[&function] = longest + 1;
  return Status::success();
}

Status pcc::onnx::checkCalls(const std::vector<Function> &functions,
                             const FunctionTable &table, int depth) {
  CallGraphWalk walk(table, depth);
  for (const Function &function : functions)
    PCC_RETURN_IF_ERROR(walk.enter(function));
  return Status::success();
}
