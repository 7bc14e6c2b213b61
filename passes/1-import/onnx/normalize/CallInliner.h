//===- CallInliner.h - one function body for one call ---------------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pcc::onnx {

/// Names that are new in the whole model, and a bound on how much is made.
class UniqueNames {
public:
  /// `budget` is in units of about 16 bytes.
  UniqueNames(Model &model, uint64_t budget);

  /// `wanted`, with a number after it if that is taken.
  std::string_view fresh(std::string wanted);
  /// Keeps a name that need not be unique.
  std::string_view keep(std::string name);
  /// False once more than the budget is spent.
  bool spend(uint64_t cost);

private:
  void take(const Graph &graph);

  Model &model;
  std::unordered_set<std::string_view> taken;
  uint64_t budget;
  uint64_t suffix = 0;
};

/// Makes the nodes that replace one call of one function. Names inside the body
/// map to names of the calling graph: inputs and outputs to those of the call,
/// all others to fresh names.
class CallInliner {
public:
  /// `opset` is the version of the standard ops in the function.
  CallInliner(const Node &call, const Function &function, int64_t opset,
              UniqueNames &source);

  Result<std::vector<Node>> make();

private:
  void bindInputs();
  void bindOutputs();
  void renameNode(Node &node, bool inBody);
  void renameGraph(Graph &graph);
  void define(std::string_view &name);
  void rename(std::string_view &name) const;
  void bindAttributes(Node &node);
  void bindAttribute(Attribute &attribute);
  const Attribute *argument(std::string_view parameter) const;
  void inheritDevices(Node &node) const;
  void forward(std::string_view from, std::string_view to);
  bool fail(std::string message, int exitCode = 3);

  const Node &call;
  const Function &function;
  const int64_t opset;
  UniqueNames &source;
  std::string prefix;
  std::unordered_map<std::string_view, std::string_view> names;
  /// (name in the body, output of the call) where a node has to copy: an output
  /// that is an input, or that is listed twice.
  std::vector<std::pair<std::string_view, std::string_view>> forwarded;
  std::vector<Node> nodes;
  MaybeError error;
};

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_CALLINLINER_H
