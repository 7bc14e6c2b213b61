//===- CallInliner.h - inlining of one ONNX function call -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pcc::onnx {

/// Generates value names that are unique in the whole model. Also keeps the
/// budget that limits how much data inlining creates: functions that call each
/// other twice grow exponentially.
class UniqueNames {
public:
  /// Reserves all names that the model's graph and subgraphs define. `model`
  /// must outlive the object. A unit of `budget` stands for about 16 bytes.
  UniqueNames(Model &model, uint64_t budget);

  /// Returns `wanted` if no value has that name, otherwise `wanted` followed by
  /// "_" and a number. Reserves the result.
  std::string_view fresh(std::string wanted);
  /// Stores a name that need not be unique, such as a node's.
  std::string_view keep(std::string name);
  /// Deducts `cost` from the budget. Returns false if the budget is exceeded.
  bool spend(uint64_t cost);

private:
  /// Reserves the names of a graph and of its subgraphs.
  void take(const Graph &graph);

  Model &model;
  /// Names in use.
  std::unordered_set<std::string_view> taken;
  uint64_t budget;
  /// Last number that `fresh` has appended.
  uint64_t suffix = 0;
};

/// Creates the nodes that replace one call of one function.
///
/// `names` maps each name of the body to a name of the calling graph. Inputs
/// and outputs of the function map to those of the call. All other values map
/// to fresh names.
class CallInliner {
public:
  /// Prepares the inlining. All reference arguments must outlive the object.
  /// `opset` is the version of the standard ops, which Identity nodes get.
  CallInliner(const Node &call, const Function &function, int64_t opset,
              UniqueNames &source);

  /// Returns the nodes in topological order; may only be called once. The nodes
  /// can contain further calls. Errors have exit code 3, or 4 if a graph is
  /// passed as an attribute.
  Result<std::vector<Node>> make();

private:
  /// Maps the inputs of the function to the operands of the call. An omitted
  /// operand is "".
  void bindInputs();
  /// Maps the outputs of the function to the results of the call, and fills
  /// `forwarded`.
  void bindOutputs();
  /// Renames a copied node and its values, binds its attributes, and adds the
  /// call's annotations. `inBody` is false for nodes of subgraphs.
  void renameNode(Node &node, bool inBody);
  /// Renames the values of a subgraph and its nodes.
  void renameGraph(Graph &graph);
  /// Replaces the name of a value that the body defines by a fresh name.
  void define(std::string_view &name);
  /// Replaces the name of a value by the name that it maps to, if any.
  void rename(std::string_view &name) const;
  /// Gives the attributes of `node` that refer to parameters their values, and
  /// removes those whose parameter has no value.
  void bindAttributes(Node &node);
  /// Replaces an attribute that refers to a parameter by the parameter's value.
  void bindAttribute(Attribute &attribute);
  /// Returns the value of a parameter: the call's attribute, else the default;
  /// null if there is neither.
  const Attribute *argument(std::string_view parameter) const;
  /// Adds the call's multi-device annotations to a node of the body.
  void inheritDevices(Node &node) const;
  /// Appends an Identity node that copies value `from` to value `to`.
  void forward(std::string_view from, std::string_view to);
  /// Records an error, unless there is an earlier one. Returns false.
  bool fail(std::string message, int exitCode = 3);

  const Node &call;
  const Function &function;
  const int64_t opset;
  UniqueNames &source;
  /// Prefix of fresh names: the call's name and "/".
  std::string prefix;
  std::unordered_map<std::string_view, std::string_view> names;
  /// Results of the call that need an Identity node, with the function output
  /// that each one copies. A function output needs one if it is also an input,
  /// or if it was listed before.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  /// Nodes created so far.
  std::vector<Node> nodes;
  MaybeError error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H
