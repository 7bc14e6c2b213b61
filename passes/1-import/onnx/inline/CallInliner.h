//===- CallInliner.h - inlining of one ONNX function call -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/StatusOr.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pcc::onnx {

/// Generates value names that are unique in an ONNX model, for the nodes that
/// inlining copies. Also limits the memory of these nodes, because their number
/// can grow exponentially with the depth of the calls.
class UniqueNames {
public:
  /// Collects the names of all values in the model's main graph and its
  /// subgraphs; fresh() does not return these names. `budget` limits the
  /// estimated memory of the nodes and names that inlining creates. The unit of
  /// `budget` is 16 bytes. For example, the budget 1000 allows new nodes and
  /// names of about 16,000 bytes. `model` must outlive the object.
  UniqueNames(Model &model, uint64_t budget);

  /// Returns a value name that is not yet in use, and reserves it: `wanted`
  /// itself, or `wanted` followed by "_" and a number.
  std::string_view fresh(const std::string &wanted);
  /// Stores the string `name` in the model, and returns a view of the stored
  /// string. The view is valid as long as the model. Unlike fresh(), this
  /// function does not make the name unique. Callers use it for the names of
  /// nodes, because two nodes may have the same name.
  std::string_view keep(std::string name);
  /// Subtracts `cost` from the member `budget` and returns true. `budget` is
  /// the estimated memory of the nodes and names that inlining may still
  /// create. `cost` is the estimated memory of one new node or name. The unit
  /// of both numbers is 16 bytes: for example, the cost 8 stands for about 128
  /// bytes. If `cost` exceeds `budget`, sets `budget` to 0 and returns false.
  bool spend(uint64_t cost);

private:
  /// Adds the names of all values in `graph` and its subgraphs to `taken`, the
  /// set of used names.
  void take(const Graph &graph);

  Model &model;
  /// Names that must not be given to a new value: the names of all values of
  /// the main graph and its subgraphs, and all names that `fresh` has returned.
  std::unordered_set<std::string_view> taken;
  uint64_t budget;
  /// Number that the function `fresh` appended last. To make a name unique,
  /// `fresh` adds 1 to this number and appends "_" and the number to the name.
  uint64_t suffix = 0;
};

/// Inlines one call of a function: copies the nodes of its body under new
/// names. The map `names` translates the inputs and outputs of the function to
/// operands and results of the call. All other values get new, unused names.
class CallInliner {
public:
  /// Prepares to replace `call` by the nodes of `function`. The inliner may add
  /// Identity nodes; `opset` is their opset version. All objects passed by
  /// reference must outlive the inliner.
  CallInliner(const Node &call, const Function &function, int64_t opset,
              UniqueNames &source);

  /// Returns the nodes that replace the function call, in topological order.
  /// Some of these nodes may be calls of other functions. Returns an error with
  /// exit code 4 if the value of an attribute parameter of the function is a
  /// graph, which pcc does not support. Every other error has exit code 3. May
  /// be called only once.
  StatusOr<std::vector<Node>> make();

private:
  /// Adds each input name of the function to the map `names`. Maps the input
  /// name to the name of the call's operand. If the call omits the operand,
  /// maps the input name to the empty string.
  void bindInputs();
  /// Adds each output of the function that the call uses to the map `names`,
  /// with the corresponding result of the call. The map cannot hold a name
  /// twice. An output that is already in the map therefore goes to `forwarded`.
  void bindOutputs();
  /// Adapts the copied node `node` to the graph that contains the call: names,
  /// attributes, subgraphs and multi-device annotations. `inBody` is false for
  /// a node of a subgraph, whose results are not outputs of the function.
  void renameNode(Node &node, bool inBody);
  /// Renames the values and nodes of `graph`, a subgraph of a copied node. Each
  /// value and each node that `graph` contains gets a new name. For example, if
  /// the call of the function is named blk, the value t becomes blk/t. A node
  /// of `graph` may also read a value from outside of `graph`. The map `names`
  /// gives the new name of that value.
  void renameGraph(Graph &graph);
  /// Replaces `name` by a new, unused name. `name` is the name of a value that
  /// a copied node or a copied subgraph defines. Also adds an entry to the map
  /// `names`, which maps the old name to the new name. For example, if the call
  /// is named blk, the name t becomes blk/t, and the map translates t to blk/t.
  /// Leaves an empty name unchanged.
  void define(std::string_view &name);
  /// Replaces `name` by the name to which the map `names` maps it. Leaves
  /// `name` unchanged if the map lacks it.
  void rename(std::string_view &name) const;
  /// Replaces each attribute of `node` that refers to a parameter of the
  /// function by the parameter's value. Erases the attribute if the parameter
  /// has no value.
  void bindAttributes(Node &node);
  /// Gives `attribute` the value of the function parameter to which it refers.
  /// `attribute` belongs to a copied node. The call of the function gives the
  /// value of the parameter, or else the function has a default value. If there
  /// is neither, leaves `attribute` unchanged.
  void bindAttribute(Attribute &attribute);
  /// Returns the value of the function's parameter `parameter`: the call's
  /// attribute of that name, else the function's default. Returns null if there
  /// is neither.
  const Attribute *argument(std::string_view parameter) const;
  /// Copies the multi-device annotations of the call to `node`, one of the
  /// nodes that replace the call. For each device configuration (named set of
  /// devices), copies the pipeline stage, and the sharding of each tensor that
  /// `node` reads or defines. The pipeline stage and the shardings that `node`
  /// already has stay unchanged.
  void inheritDevices(Node &node) const;
  /// Appends an Identity node to `nodes`, the nodes that replace the call. The
  /// Identity node copies the value `from` to the value `to`: its operand is
  /// named `from`, and its result is named `to`.
  void forward(std::string_view from, std::string_view to);
  /// Records `message` as an error with the exit code `code`, unless an earlier
  /// error is already recorded.
  void fail(std::string message, ExitCode code = CannotRead);

  const Node &call;
  const Function &function;
  const int64_t opset;
  UniqueNames &source;
  /// Prefix of new names: the name of the call and "/", such as "blk/". If the
  /// call has no name, its op type and node index are used, such as "Scale_3/".
  std::string prefix;
  std::unordered_map<std::string_view, std::string_view> names;
  /// Pairs (output of the function, result of the call) for which the inliner
  /// adds an Identity node. No copied node computes these results: f(a) => (a)
  /// returns an input, and f(x) => (b, b) returns one value twice.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  /// Renamed copies of the function's nodes, and added Identity nodes. `make`
  /// returns this list.
  std::vector<Node> nodes;
  Status error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H
