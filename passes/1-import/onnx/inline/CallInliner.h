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

/// Generates value names that are unique in the whole model. Also holds the
/// budget that limits how much data inlining may create. Without a limit the
/// data could grow exponentially: in a chain of n functions, each of which
/// calls the next one twice, the last is copied 2^n times.
class UniqueNames {
public:
  /// Reserves all value names that the model's main graph and subgraphs define.
  /// `budget` limits the data that inlining may create, in units of about 16
  /// bytes. `model` must outlive the object.
  UniqueNames(Model &model, uint64_t budget);

  /// Returns a value name that is not yet in use, and reserves it: `wanted`
  /// itself, or `wanted` followed by "_" and a number.
  std::string_view fresh(const std::string &wanted);
  /// Stores a name that need not be unique, such as a node's name, in the
  /// model. Returns a view of the stored copy.
  std::string_view keep(std::string name);
  /// Deducts `cost`, in units of about 16 bytes, from the budget. Returns false
  /// if less than `cost` is left.
  bool spend(uint64_t cost);

private:
  /// Reserves the value names of `graph` and of its subgraphs.
  void take(const Graph &graph);

  Model &model;
  /// Value names in use.
  std::unordered_set<std::string_view> taken;
  uint64_t budget;
  /// Number that `fresh` last appended to a name to make it unique.
  uint64_t suffix = 0;
};

/// Inlines one call of one function: copies the nodes of the function's body,
/// with new names.
///
/// `names` maps each value name of the function's body to a name in the calling
/// graph. Inputs and outputs of the function map to the operands and results of
/// the call. All other values map to new, unused names.
class CallInliner {
public:
  /// Prepares the inlining of `call`. All reference arguments must outlive the
  /// object. `opset` is the version of the standard ops for the Identity nodes
  /// that the inliner adds.
  CallInliner(const Node &call, const Function &function, int64_t opset,
              UniqueNames &source);

  /// Returns the nodes that replace the call, in topological order. They may
  /// contain further calls. May only be called once. Errors have exit code 3,
  /// or 4 if the call passes a graph as an attribute.
  StatusOr<std::vector<Node>> make();

private:
  /// Maps each input name of the function to the operand of the call; to "" if
  /// the call omits the operand.
  void bindInputs();
  /// Maps each output name of the function to the result of the call. If a
  /// result must be a copy of another value, adds the names of output and
  /// result to `forwarded` instead.
  void bindOutputs();
  /// Completes a copied node: renames it and its values, replaces attributes
  /// that refer to parameters, and adds the device annotations of the call.
  /// `inBody` is true for nodes of the function body itself, false for nodes of
  /// subgraphs.
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
  /// parameter's value. Leaves `attribute` unchanged if the parameter has no
  /// value.
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
  /// Pairs (function output, result of the call) for which an Identity node
  /// copies the value. A pair is needed if the output is also an input of the
  /// function, or if an earlier output of the function has the same name.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  /// Nodes created so far.
  std::vector<Node> nodes;
  Status error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_CALLINLINER_H
