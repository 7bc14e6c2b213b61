//===- ValidateModel.cpp - checks of names and order of a model -----------===//

#include "passes/1-import/onnx/check/ValidateModel.h"

#include "passes/1-import/onnx/check/TopologicalOrder.h"
#include "passes/1-import/onnx/model/MessageText.h"

#include <unordered_map>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// The node, graph input or initializer that defines a value.
struct Definition {
  /// Kind of the definition for messages: "node", "an input" or "an
  /// initializer".
  const char *what = "node";
  /// Index of the node that defines the value. Valid only if `byNode` is true.
  uint32_t node = 0;
  /// Whether a node defines the value. False for an input or an initializer.
  bool byNode = false;
};

/// Symbol table of one ONNX graph or function body. Nodes may also use names of
/// enclosing graphs.
class Scope {
public:
  /// Creates the scope of the graph with the nodes `nodes`. `outer` is the
  /// scope of the enclosing graph; null for a main graph or a function.
  Scope(const Scope *outer, std::vector<Node> &nodes)
      : outer(outer), nodes(nodes) {}

  /// Adds the definition of the value `name` by an input or an initializer.
  /// `what` is the kind of the definition: "an input" or "an initializer".
  /// Records an error if this graph or an enclosing graph already defines the
  /// name. Exception: this graph defines the name, and the kind of that
  /// definition is `mayRepeat`.
  void define(std::string_view name, const char *what,
              std::string_view mayRepeat = {});
  /// Adds the results of all nodes to the symbol table. Must be called before
  /// sortNodes.
  void defineNodes();
  /// Checks that each value that a node reads is defined. Validates the nodes'
  /// subgraphs. Sorts the nodes topologically. Appends to `captures` the names
  /// that nodes read from enclosing graphs.
  void sortNodes(std::vector<std::string_view> &captures);
  /// Checks that this graph or an enclosing graph defines the graph output
  /// `name`. In the second case, appends the name to `captures`.
  void checkOutput(std::string_view name,
                   std::vector<std::string_view> &captures);

  /// The first error; success if there is none. Later errors are dropped.
  Status error;

private:
  /// Returns the definition of `name` in this graph, not in enclosing ones;
  /// null if there is none.
  const Definition *find(std::string_view name) const;
  /// Adds a definition of the value `name`. Records an error if this graph or
  /// an enclosing graph already defines the name. Exception: this graph defines
  /// the name, and the kind of that definition is `mayRepeat`. For example, an
  /// initializer may have the name of an input: `mayRepeat` is then "an input".
  void enter(std::string_view name, Definition definition,
             std::string_view mayRepeat);
  std::string describe(const Definition &definition) const;
  /// Records that `node` reads the value `name`. The effect depends on the
  /// definition of the value:
  ///
  ///   by a node of this graph        appends that node's index to `producers`
  ///   by an input or initializer
  ///     of this graph                has no effect
  ///   in an enclosing graph          appends `name` to `captures`
  ///   missing                        records an error
  void use(std::string_view name, const Node &node,
           std::vector<uint32_t> &producers,
           std::vector<std::string_view> &captures);
  /// Validates the subgraphs of `node`. Returns the indices of the nodes of
  /// this graph whose results `node` or its subgraphs read. Appends to
  /// `captures` the names that `node` or its subgraphs read from enclosing
  /// graphs.
  std::vector<uint32_t> producersOf(Node &node,
                                    std::vector<std::string_view> &captures);
  void reportCycle(const std::vector<uint32_t> &cycle);
  void fail(std::string message, std::vector<std::string> notes = {}) {
    if (error.ok())
      error = Status::error(CannotRead, std::move(message), std::move(notes));
  }

  const Scope *outer;
  std::vector<Node> &nodes;
  std::unordered_map<std::string_view, Definition> definitions;
};

} // namespace

/// Validates a graph and its subgraphs, and sorts their nodes. Appends to
/// `captures` the names that the graph reads but an enclosing graph defines.
/// Returns the first error, if any.
static Status validateGraph(Graph &graph, const Scope *outer,
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

/// Treats a value that a subgraph of `node` reads from this graph like an
/// operand of `node`: the node that defines the value is a producer of `node`.
std::vector<uint32_t>
Scope::producersOf(Node &node, std::vector<std::string_view> &captures) {
  std::vector<uint32_t> producers;
  for (std::string_view input : node.inputs)
    if (!input.empty())
      use(input, node, producers, captures);
  for (Attribute &attribute : node.attributes) {
    for (Graph &graph : attribute.graphs) {
      std::vector<std::string_view> captured;
      Status inner = validateGraph(graph, this, captured);
      if (inner.failed() && error.ok())
        error = inner.addNote("in attribute " + quoted(attribute.name) +
                              " of node " + node.label());
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

/// Finds the producers of all nodes before it reorders the nodes. The producers
/// are looked up in `definitions`, which stores the index of each node. The
/// reordering changes these indices.
void Scope::sortNodes(std::vector<std::string_view> &captures) {
  std::vector<std::vector<uint32_t>> producers;
  producers.reserve(nodes.size());
  for (Node &node : nodes) {
    producers.push_back(producersOf(node, captures));
    if (error.failed())
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

/// Checks that an initializer has the type of the input of the same name. The
/// initializer is the default value of this input. A dim of the input without a
/// size matches any size.
static Status checkDefault(const Tensor &tensor, const ValueInfo &input) {
  const std::string who = "initializer " + quoted(tensor.name);
  if (input.type.kind != TypeKind::Tensor)
    return Status::success();
  if (input.type.elementType != DataType::Undefined &&
      input.type.elementType != tensor.dataType)
    return Status::error(CannotRead, who + " has elements of type " +
                                         typeName(tensor.dataType) +
                                         ", but the input of this name has " +
                                         typeName(input.type.elementType));
  if (!input.type.shape)
    return Status::success();
  const std::vector<Dim> &shape = *input.type.shape;
  bool fits = shape.size() == tensor.dims.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i].value.value_or(tensor.dims[i]) == tensor.dims[i];
  return fits ? Status::success()
              : Status::error(CannotRead,
                              who + " has another shape than the input of "
                                    "this name");
}

/// Checks each initializer that is the default value of an input.
static Status checkDefaults(const Graph &graph) {
  std::unordered_map<std::string_view, const ValueInfo *> inputs;
  for (const ValueInfo &input : graph.inputs)
    inputs.emplace(input.name, &input);
  for (const Tensor &tensor : graph.initializers)
    if (auto found = inputs.find(tensor.name); found != inputs.end())
      PCC_RETURN_IF_ERROR(checkDefault(tensor, *found->second));
  return Status::success();
}

/// Adds the definitions of all values to a Scope (symbol table). Then checks
/// that nodes and graph outputs use only defined values.
static Status validateGraph(Graph &graph, const Scope *outer,
                            std::vector<std::string_view> &captures) {
  PCC_RETURN_IF_ERROR(checkDefaults(graph));
  Scope scope(outer, graph.nodes);
  for (const ValueInfo &input : graph.inputs)
    scope.define(input.name, "an input");
  // An initializer may share its name with an input. It is then the default
  // value of that input.
  for (const Tensor &tensor : graph.initializers)
    scope.define(tensor.name, "an initializer", "an input");
  for (const SparseTensor &tensor : graph.sparseInitializers)
    scope.define(tensor.values.name, "an initializer", "an input");
  scope.defineNodes();
  if (scope.error.ok())
    scope.sortNodes(captures);
  for (const ValueInfo &output : graph.outputs)
    if (scope.error.ok())
      scope.checkOutput(output.name, captures);
  return std::move(scope.error);
}

/// Validates the body of a function and sorts its nodes. Returns the first
/// error, if any.
static Status validateFunction(Function &function) {
  std::vector<std::string_view> captures;
  Scope scope(nullptr, function.nodes);
  for (std::string_view input : function.inputs)
    scope.define(input, "an input");
  scope.defineNodes();
  if (scope.error.ok())
    scope.sortNodes(captures);
  for (std::string_view output : function.outputs)
    if (scope.error.ok())
      scope.checkOutput(output, captures);
  if (scope.error.failed())
    scope.error.addNote("in function " + function.label());
  return std::move(scope.error);
}

Status pcc::onnx::validateModel(Model &model) {
  for (Function &function : model.functions)
    PCC_RETURN_IF_ERROR(validateFunction(function));
  std::vector<std::string_view> captures;
  return validateGraph(model.graph, nullptr, captures);
}
