//===- SizeLimit.cpp - weights that limit sizes of dynamic dims -----------===//

#include "passes/1-import/build/SizeLimit.h"
#include "passes/1-import/build/Emitter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

std::string adviceOnLimit(const ImportOptions &options, int64_t got,
                          int64_t limit) {
  const std::string most = std::to_string(limit);
  SmallVector<std::string> dims;
  for (const auto &[name, size] : options.dims)
    if (size == got)
      dims.push_back("--dim " + name + "=");
  if (dims.size() == 1)
    return "; at most " + dims[0] + most + ", got " + dims[0] +
           std::to_string(got);
  if (!dims.empty())
    return "; bind at most " + most + " by the one of " +
           llvm::join(dims, std::to_string(got) + " and ") +
           std::to_string(got) + " that gives this size";
  for (const auto &[name, sizes] : options.shapes)
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (size == got)
        return "; dim " + std::to_string(dim) + " of --shape " + name +
               " can be at most " + most + ", got " + std::to_string(got);
  return "; if the index comes from the length of an input, bind at most " +
         most + " with --dim";
}

/// Returns the weight whose elements the dim of the size `size` of `value`
/// counts: ops between the weight and `value` only select, move or convert
/// elements. Returns null if there is none.
static GetParameterOp findWeight(Value value, int64_t size) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<GetParameterOp>(op))
      return llvm::is_contained(shapeOf(weight), size) ? weight
                                                       : GetParameterOp();
    if (!op->hasTrait<MovesElements>() && !isa<CastOp, GatherOp, SliceOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Explains a dim in which `small` has `limit` elements, but another operand
/// `got`; an empty string if no weight determines `limit`.
static std::string describeLimit(Value small, int64_t limit, int64_t got,
                                 const ImportOptions &options) {
  GetParameterOp weight = findWeight(small, limit);
  if (!weight)
    return "";
  const int64_t dim =
      llvm::find(shapeOf(weight), limit) - shapeOf(weight).begin();
  return "; '" + weight.getParameter().str() + "' has " +
         std::to_string(limit) + " along dim " + std::to_string(dim) +
         adviceOnLimit(options, got, limit);
}

std::string describeSmallWeight(ValueRange operands,
                                const ImportOptions &options) {
  for (Value small : operands)
    for (Value large : operands)
      for (auto [limit, got] : llvm::zip(llvm::reverse(shapeOf(small)),
                                         llvm::reverse(shapeOf(large)))) {
        if (limit == 1 || limit >= got)
          continue;
        std::string text = describeLimit(small, limit, got, options);
        if (!text.empty())
          return text;
      }
  return "";
}

} // namespace pcc::onnx_import
