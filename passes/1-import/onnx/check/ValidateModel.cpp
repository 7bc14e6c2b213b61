//===- ValidateModel.cpp - checks of names and order of a model -----------===//

#include "passes/1-import/onnx/check/ValidateModel.h"

#include "passes/1-import/onnx/check/TopologicalOrder.h"
#include "passes/1-import/onnx/model/MessageText.h"
#include "status/Counted.h"

#include <unordered_map>

using namespace pcc;
using namespace pcc::onnx;

namespace {

/// The node, graph input or initializer that defines a value.
struct Definition {
  /// Kind of the definition: "node", "an input" or "an initializer". Error
  /// messages describe an input or an initializer by this text. They describe a
  /// node by its name and its op type instead. For example, a graph has an
  /// input x, and the node n of type Add also has a result x. The error message
  /// is "value 'x' is defined twice". It has two notes: "first by an input" and
  /// "again by node 'n' (Add)".
  const char *what = "node";
  /// Index, in the graph's list of nodes, of the node that defines the value.
  /// Has no meaning if an input or an initializer defines the value (`byNode`
  /// is false).
  uint32_t node = 0;
  /// Whether a node defines the value. False for an input or an initializer.
  bool byNode = false;
};

/// Checks one ONNX graph (or one function body) and sorts its nodes. Maps the
/// name of each value of the graph to the definition of the value. A definition
/// is an input, an initializer or a node of the graph. A graph can lie inside a
/// node of another graph, which is then called the enclosing graph. A node may
/// also read values of enclosing graphs. A Scope therefore has a pointer to the
/// Scope of the enclosing graph.
class Scope {
public:
  /// Creates an object that checks the graph with the nodes `nodes`. At first,
  /// the object knows no values of the graph. If the graph is a subgraph of a
  /// node in another graph, `outer` is the Scope of that other graph. If the
  /// graph is the main graph or the body of a function, `outer` is null.
  Scope(const Scope *outer, std::vector<Node> &nodes)
      : outer(outer), nodes(nodes) {}

  /// Records that an input or an initializer of this graph defines the value
  /// `name`. `what` is "an input" or "an initializer". Records an error if
  /// `name` is empty, or if this graph or an enclosing graph already defines
  /// `name`. If `mayRepeat` is "an input", this graph may already have an input
  /// `name`. The caller passes this text for an initializer, because ONNX lets
  /// an initializer have the name of an input of the same graph.
  void define(std::string_view name, const char *what,
              std::string_view mayRepeat = {});
  /// Adds an entry to the map `definitions` for each named result of each node
  /// in this graph. The key is the name of the result. The entry states which
  /// node computes the result. Records an error if a node has no op type, or if
  /// this graph or an enclosing graph already defines a value with the name of
  /// the result. Must be called before sortNodes().
  void defineNodes();
  /// Checks that each value that a node reads is defined. Validates the nodes'
  /// subgraphs. Sorts the nodes topologically. Appends to `captures` the names
  /// that nodes read from enclosing graphs.
  void sortNodes(std::vector<std::string_view> &captures);
  /// Checks `name`, the name of an output of this graph. A value with this name
  /// must be defined in this graph or in an enclosing graph. If the value is
  /// defined in an enclosing graph, appends `name` to `captures`. `captures` is
  /// the list of the names that this graph takes from enclosing graphs.
  void checkOutput(std::string_view name,
                   std::vector<std::string_view> &captures);

  /// The first error; success if there is none. Later errors are dropped.
  Status error;

private:
  /// Returns the definition of `name` in this graph, not in enclosing ones;
  /// null if there is none.
  const Definition *find(std::string_view name) const;
  /// Records that `definition` defines the value `name`. `definition` is a
  /// node, an input or an initializer of this graph. Records an error if `name`
  /// is empty, or if this graph or an enclosing graph already defines `name`.
  /// If `mayRepeat` is "an input", this graph may already have an input `name`.
  void enter(std::string_view name, Definition definition,
             std::string_view mayRepeat);
  std::string describe(const Definition &definition) const;
  /// Finds the definition of the value `name`, which `node` reads. If a node of
  /// this graph defines the value, appends the node's index to `producers`. If
  /// only an enclosing graph defines it, appends `name` to `captures`. Records
  /// an error if no graph defines the value.
  void use(std::string_view name, const Node &node,
           std::vector<uint32_t> &producers,
           std::vector<std::string_view> &captures);
  /// Validates the subgraphs of `node`. Returns the indices of the nodes of
  /// this graph whose results `node` or its subgraphs read. Appends the names
  /// that only an enclosing graph defines to `captures`. Records an error if no
  /// graph defines a name.
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

/// Checks `graph` and its subgraphs, and sorts their nodes topologically.
/// `outer` is the scope of the enclosing graph; null for the main graph.
/// Appends to `captures` the names that `graph` takes from enclosing graphs.
/// Returns the first error.
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

/// Returns the indices of the producers of `node`. A producer of `node` is a
/// node of this graph whose result `node` reads. A read in a subgraph of `node`
/// counts as a read by `node`. Example: `node` is an If, and its then_branch
/// reads x, the result of node 3. The returned list then contains 3.
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
    text += "… (" + counted(cycle.size(), "node") + ") -> ";
  fail(text + nodes[cycle.front()].label());
}

/// Works in two steps. Step 1 finds the producers of each node: the nodes whose
/// results the node reads. Step 2 moves the nodes to their new places in the
/// list. The map `definitions` gives step 1 the index of the node that defines
/// a value. Step 2 changes the indices of nodes, so step 1 must be complete
/// before step 2 begins.
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
  return contradicts(input.type, tensor.dims)
             ? Status::error(CannotRead,
                             who + " has another shape than the input of "
                                   "this name")
             : Status::success();
}

/// Checks each dense initializer of `graph` that has the name of an input of
/// `graph`. The initializer is the default value of that input. The element
/// type and the shape of the initializer must fit the type of the input.
static Status checkDefaults(const Graph &graph) {
  std::unordered_map<std::string_view, const ValueInfo *> inputs;
  for (const ValueInfo &input : graph.inputs)
    inputs.emplace(input.name, &input);
  for (const Tensor &tensor : graph.initializers)
    if (auto found = inputs.find(tensor.name); found != inputs.end())
      PCC_RETURN_IF_ERROR(checkDefault(tensor, *found->second));
  return Status::success();
}

/// Validates `graph` in two steps. Step 1 adds all values that the graph
/// defines to `scope`, the symbol table of the graph. These values are inputs,
/// initializers and results of nodes. Step 2 sorts the nodes and checks that
/// each value that a node reads, and each graph output, is defined in the graph
/// or in an enclosing graph. `outer` is the symbol table of the enclosing
/// graph; null for the main graph.
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
