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

/// Generates value names that are unique in an ONNX model. Inlining replaces
/// each call of a function by copies of the nodes of the function. The values
/// of these copies need new names.
///
/// The class also limits the memory of the copied nodes, because the number of
/// copies can grow exponentially. For example, the main graph calls the
/// function f1 once, f1 calls f2 twice, and f2 calls f3 twice. Inlining copies
/// f1 once, f2 twice and f3 4 times. If the chain has 30 functions, inlining
/// copies the last function 2^29 times.
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
  /// function does not make the name unique. It serves for names of nodes,
  /// because two nodes may have the same name.
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
/// names. The map `names` translates names of the body to names of the calling
/// graph:
///
///   input of the function    operand of the call
///   output of the function   result of the call
///   other value              new, unused name
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
  /// Adds an entry to the map `names` for each output of the function that the
  /// call uses. The key is the name of the output. The value is the name of the
  /// call's result that corresponds to the output. Example: if the function has
  /// the output b and the call has the result y, the map translates b to y.
  ///
  /// The map cannot hold two entries for one name. An output of a function may
  /// have a name that is already in the map. For example, the function returns
  /// its input a, and the map already translates a to the call's operand x. In
  /// this case, bindOutputs() adds the pair (a, y) to the list `forwarded`. The
  /// inliner later adds an Identity node, which copies x to y.
  void bindOutputs();
  /// Adapts `node`, a copy of a node of the function, to the graph that
  /// contains the call. Gives new names to the node, its results and the values
  /// of its subgraphs. Renames the operands by the map `names`. Gives
  /// attributes the values of the function parameters. Copies the pipeline
  /// stage and the shardings of the call, unless `node` has its own. `inBody`
  /// is true if the original of `node` is not in a subgraph. A result that is
  /// an output of the function then gets the name of the call's result.
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
  /// Pairs (output of the function, result of the call). For each pair, the
  /// inliner adds an Identity node that copies the value of the output to the
  /// result. Most outputs need no pair: the copy of the node that computes the
  /// output directly computes the result of the call. Two kinds of outputs need
  /// a pair:
  ///
  ///  - An output that is also an input, as in the function f(a) => (a). No
  ///    node computes this output.
  ///  - The second mention of an output, as in the function f(x) => (b, b). The
  ///    copy of the node that computes b computes only the call's first result.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  /// Renamed copies of the function's nodes, and added Identity nodes. `make`
  /// returns this list.
  std::vector<Node> nodes;
  Status error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H
