//===- FunctionTable.h - the functions of a model and their calls ---------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_FUNCTIONTABLE_H
#define PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_FUNCTIONTABLE_H

#include "passes/1-import/onnx/model/Error.h"
#include "passes/1-import/onnx/model/Model.h"

#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace pcc::onnx {

/// Functions by (domain, name, overload).
class FunctionTable {
public:
  /// Enters all functions; two of one key are an error.
  MaybeError fill(const std::vector<Function> &functions);
  /// The function that `node` calls, or null.
  const Function *calledBy(const Node &node) const;

private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const Function *> byKey;
};

/// An error if functions call each other in a circle or more than `depth` deep.
MaybeError checkCalls(const std::vector<Function> &functions,
                      const FunctionTable &table, int depth);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_NORMALIZE_FUNCTIONTABLE_H
