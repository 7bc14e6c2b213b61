//===- FunctionTable.h - lookup of ONNX functions by call -----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_INLINE_FUNCTIONTABLE_H
#define PCC_PASSES_1_IMPORT_ONNX_INLINE_FUNCTIONTABLE_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pcc::onnx {

/// Finds the function that a node calls, by domain, name and overload.
class FunctionTable {
public:
  /// Adds all of `functions`, which must outlive the table and must not be
  /// resized. Returns an error if two functions have the same domain, name and
  /// overload.
  Status fill(const std::vector<Function> &functions);
  /// Returns the function that `node` calls; null if the node is an op. If a
  /// function and an op have the same name, the node calls the function.
  const Function *calledBy(const Node &node) const;

private:
  /// Domain, name and overload of a function.
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const Function *> byKey;
};

/// Checks the calls in the bodies of `functions`, subgraphs included. Returns
/// the error CannotRead if a function calls itself, directly or through other
/// functions, or if calls are nested more than `depth` functions deep.
Status checkCalls(const std::vector<Function> &functions,
                  const FunctionTable &table, int depth);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_INLINE_FUNCTIONTABLE_H
