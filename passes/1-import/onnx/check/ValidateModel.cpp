//===- ValidateModel.cpp - checks of names and order of a model -----------===//

#include "passes/1-import/onnx/check/ValidateModel.h"

#include "passes/1-import/onnx/check/TopologicalOrder.h"

#include <unordered_map>

using namespace pcc::onnx;

namespace {

/// The definition of a value: a node's result, or an input or initializer.
struct Definition {
  /// Kind of the definition, for messages.
  const char *what = "node";
  /// Position of the defining node; meaningful if `byNode`.
  uint32_t node = 0;
  /// Whether a node defines the value.
  bool byNode = false;
};

/// Symbol table of one graph or function body, nested in the symbol tables of
/// the enclosing graphs.
class Scope {
public:
  /// Creates the scope of `nodes`. `outer` is the scope of the enclosing graph;
  /// null if there is none.
  Scope(const Scope *outer, std::vector<Node> &nodes)
      : outer(outer), nodes(nodes) {}

  /// Defines an input or initializer, whose kind is `what`. The name may repeat
  /// that of an earlier definition of kind `mayRepeat`.
  void define(std::string_view name, const char *what,
              std::string_view mayRepeat = {});
  /// Defines the results of all nodes. Must precede sortNodes, because nodes
  /// may be listed before their producers.
  void defineNodes();
  /// Checks all uses, validates the subgraphs and sorts the nodes. Adds the
  /// names that enclosing graphs define to `captures`.
  void sortNodes(std::vector<std::string_view> &captures);
  /// Checks that an output of the graph is defined.
  void checkOutput(std::string_view name,
                   std::vector<std::string_view> &captures);

  /// The first error, if any. Methods keep it and ignore later errors.
  MaybeError error;

private:
  /// Returns the definition in this scope alone; null if there is none.
  const Definition *find(std::string_view name) const;
  /// Adds a definition, unless this scope or an enclosing one has the name.
  void enter(std::string_view name, Definition definition,
             std::string_view mayRepeat);
  std::string describe(const Definition &definition) const;
  /// Records a use of value `name` by `node`: in `producers` if a node of this
  /// graph defines it, in `captures` if an enclosing graph does.
  void use(std::string_view name, const Node &node,
           std::vector<uint32_t> &producers,
           std::vector<std::string_view> &captures);
  /// Returns the nodes of this graph that `node` and its subgraphs depend on.
  /// Also validates the subgraphs.
  std::vector<uint32_t> producersOf(Node &node,
                                    std::vector<std::string_view> &captures);
  void reportCycle(const std::vector<uint32_t> &cycle);
  void fail(std::string message, std::vector<std::string> notes = {}) {
    if (!error)
      error = Error{3, std::move(message), std::move(notes)};
  }

  const Scope *outer;
  std::vector<Node> &nodes;
  std::unordered_map<std::string_view, Definition> definitions;
};

} // namespace

/// Validates and sorts a graph and its subgraphs. Adds the names that the graph
/// takes from enclosing graphs to `captures`.
static MaybeError validateGraph(Graph &graph, const Scope *outer,
                                std::vector<std::string_view> &captures);

const Definition *Scope::find(std::string_view name) const {
  const auto found = definitions.find(name);
  return found == definitions.end() ? nullptr : &found->second;
}

std::string Scope::describe(const Definition &definition) const {
  return definition.byNode ? "node " + nodes[definition.node].label()
                           : definition.what;
}

void Scope::enter(std::string_view name, Definition definition,
                  std::string_view mayRepeat) {
  if (name.empty())
    return fail(describe(definition) + " has no name");
  for (const Scope *scope = this; scope; scope = scope->outer) {
    const Definition *other = scope->find(name);
    if (!other || (scope == this && other->what == mayRepeat))
      continue;
    return fail("value " + quoted(name) + " is defined twice",
                {"first by " + scope->describe(*other),
                 "again by " + describe(definition)});
  }
  definitions[name] = definition;
}

void Scope::define(std::string_view name, const char *what,
                   std::string_view mayRepeat) {
  enter(name, {what}, mayRepeat);
}

void Scope::defineNodes() {
  definitions.reserve(definitions.size() + nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].opType.empty())
      return fail("node " + nodes[i].label() + " has no op type");
    for (std::string_view output : nodes[i].outputs)
      if (!output.empty())
        enter(output, {"node", i, /*byNode=*/true}, {});
  }
}

void Scope::use(std::string_view name, const Node &node,
                std::vector<uint32_t> &producers,
                std::vector<std::string_view> &captures) {
  if (const Definition *definition = find(name)) {
    if (definition->byNode)
      producers.push_back(definition->node);
    return;
  }
  for (const Scope *scope = outer; scope; scope = scope->outer)
    if (scope->find(name))
      return captures.push_back(name);
  fail("value " + quoted(name) + " is used by node " + node.label() +
       " but never defined");
}

/// Collects the producers of `node`. A name that one of its subgraphs captures
/// counts as an operand of `node`. If this graph does not define that name
/// either, this graph captures the name, too.
std::vector<uint32_t>
Scope::producersOf(Node &node, std::vector<std::string_view> &captures) {
  std::vector<uint32_t> producers;
  for (std::string_view input : node.inputs)
    if (!input.empty())
      use(input, node, producers, captures);
  for (Attribute &attribute : node.attributes) {
    for (Graph &graph : attribute.graphs) {
      std::vector<std::string_view> captured;
      if (MaybeError inner = validateGraph(graph, this, captured)) {
        inner->notes.push_back("in attribute " + quoted(attribute.name) +
                               " of node " + node.label());
        if (!error)
          error = std::move(inner);
      }
      for (std::string_view name : captured)
        use(name, node, producers, captures);
    }
  }
  return producers;
}

void Scope::reportCycle(const std::vector<uint32_t> &cycle) {
  constexpr size_t mostNamed = 8;
  std::string text = "the graph has a cycle: ";
  for (size_t i = 0; i < cycle.size() && i < mostNamed; ++i)
    text += nodes[cycle[i]].label() + " -> ";
  if (cycle.size() > mostNamed)
    text += "… (" + std::to_string(cycle.size()) + " nodes) -> ";
  fail(text + nodes[cycle.front()].label());
}

/// Checks the uses of all nodes, then sorts the nodes. Nodes are moved last,
/// because definitions refer to nodes by position.
void Scope::sortNodes(std::vector<std::string_view> &captures) {
  std::vector<std::vector<uint32_t>> producers;
  producers.reserve(nodes.size());
  for (Node &node : nodes) {
    producers.push_back(producersOf(node, captures));
    if (error)
      return;
  }
  const TopologicalOrder order = sortTopologically(producers);
  if (!order.cycle.empty())
    return reportCycle(order.cycle);
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (uint32_t i : order.order)
    sorted.push_back(std::move(nodes[i]));
  nodes = std::move(sorted);
}

void Scope::checkOutput(std::string_view name,
                        std::vector<std::string_view> &captures) {
  if (find(name))
    return;
  for (const Scope *scope = outer; scope; scope = scope->outer)
    if (scope->find(name))
      return captures.push_back(name);
  fail("output " + quoted(name) + " is never defined");
}

/// Defines all values of the graph, then checks all uses. Inputs are defined
/// first, because an initializer may repeat the name of an input.
static MaybeError validateGraph(Graph &graph, const Scope *outer,
                                std::vector<std::string_view> &captures) {
  Scope scope(outer, graph.nodes);
  for (const ValueInfo &input : graph.inputs)
    scope.define(input.name, "an input");
  // An initializer with the name of an input is the input's default value, not
  // a second definition.
  for (const Tensor &tensor : graph.initializers)
    scope.define(tensor.name, "an initializer", "an input");
  for (const SparseTensor &tensor : graph.sparseInitializers)
    scope.define(tensor.values.name, "an initializer", "an input");
  scope.defineNodes();
  if (!scope.error)
    scope.sortNodes(captures);
  for (const ValueInfo &output : graph.outputs)
    if (!scope.error)
      scope.checkOutput(output.name, captures);
  return std::move(scope.error);
}

/// Validates and sorts the body of a function, which captures nothing.
static MaybeError validateFunction(Function &function) {
  std::vector<std::string_view> captures;
  Scope scope(nullptr, function.nodes);
  for (std::string_view input : function.inputs)
    scope.define(input, "an input");
  scope.defineNodes();
  if (!scope.error)
    scope.sortNodes(captures);
  for (std::string_view output : function.outputs)
    if (!scope.error)
      scope.checkOutput(output, captures);
  if (scope.error)
    scope.error->notes.push_back("in function " + function.label());
  return std::move(scope.error);
}

MaybeError pcc::onnx::validateModel(Model &model) {
  for (Function &function : model.functions)
    if (MaybeError error = validateFunction(function))
      return error;
  std::vector<std::string_view> captures;
  return validateGraph(model.graph, nullptr, captures);
}
