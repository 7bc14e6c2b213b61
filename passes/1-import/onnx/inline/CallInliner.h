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

/// Generates value names that are unique in a model, for the inlining of
/// functions. Also limits the total size of the inlined nodes, because size can
/// grow exponentially: if each of n functions calls the next one twice,
/// inlining copies the last one 2^(n-1) times.
class UniqueNames {
public:
  /// Marks all value names in the model's main graph and its subgraphs as used.
  /// `budget` is the largest total size of the nodes and names that inlining
  /// creates, in units of about 16 bytes. `model` must outlive the object.
  UniqueNames(Model &model, uint64_t budget);

  /// Returns a value name that is not yet in use, and reserves it: `wanted`
  /// itself, or `wanted` followed by "_" and a number.
  std::string_view fresh(const std::string &wanted);
  /// Copies `name` into memory that the model owns, and returns a view of the
  /// copy. Does not make the name unique, because names of nodes need not be.
  std::string_view keep(std::string name);
  /// Subtracts `cost` from `budget`. `budget` is the total size of the nodes
  /// and names that inlining may still create. `cost` is the size of a new node
  /// or name. The unit of both is about 16 bytes. If `cost` exceeds `budget`,
  /// sets `budget` to 0 and returns false.
  bool spend(uint64_t cost);

private:
  /// Adds the names of all values in `graph` and its subgraphs to `taken`, the
  /// set of used names.
  void take(const Graph &graph);

  Model &model;
  /// Value names in use.
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
  /// They may contain calls of other functions. An error has exit code 4 if a
  /// function parameter is a graph, otherwise 3. May be called only once.
  StatusOr<std::vector<Node>> make();

private:
  /// Adds each input name of the function to the map `names`. Maps the input
  /// name to the name of the call's operand. If the call omits the operand,
  /// maps the input name to the empty string.
  void bindInputs();
  /// Maps each output name of the function to the name of the call's result, in
  /// the map `names`. If the map already has an entry for the output name, for
  /// example because the output is also an input, adds the pair (output name,
  /// result name) to `forwarded` instead.
  void bindOutputs();
  /// Gives a copied node its new names, attribute values and device
  /// annotations. `inBody` is false if the node lies in a subgraph inside the
  /// function's body.
  void renameNode(Node &node, bool inBody);
  /// Renames the values and nodes of a subgraph inside the copied body.
  void renameGraph(Graph &graph);
  /// Replaces `name`, which a copied node or subgraph defines, by a new, unused
  /// name, and adds the pair to `names`. Leaves an empty name unchanged.
  void define(std::string_view &name);
  /// Replaces `name` by the name to which the map `names` maps it. Leaves
  /// `name` unchanged if the map lacks it.
  void rename(std::string_view &name) const;
  /// Replaces each attribute of `node` that refers to a parameter of the
  /// function by the parameter's value. Erases the attribute if the parameter
  /// has no value.
  void bindAttributes(Node &node);
  /// Replaces `attribute`, which refers to a parameter of the function, by the
  /// parameter's value. Leaves it unchanged if the parameter has no value.
  void bindAttribute(Attribute &attribute);
  /// Returns the value of the function's parameter `parameter`: the call's
  /// attribute of that name, else the function's default. Returns null if there
  /// is neither.
  const Attribute *argument(std::string_view parameter) const;
  /// Adds the device annotations of the call to `node`, a node of the copied
  /// body. Annotations that `node` has already are kept.
  void inheritDevices(Node &node) const;
  /// Appends an Identity node whose operand is the value `from` and whose
  /// result is `to`.
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
  /// result. A pair is needed only for an output that is also an input of the
  /// function, or that the function lists twice. For any other output, the node
  /// that computes the output gets the result's name.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  /// Renamed copies of the function's nodes, and added Identity nodes. `make`
  /// returns this list.
  std::vector<Node> nodes;
  Status error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H
