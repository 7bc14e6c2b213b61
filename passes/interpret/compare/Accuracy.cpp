//===- Accuracy.cpp - accuracy of ranks beside that of one rank -----------===//

#include "passes/interpret/compare/Accuracy.h"
#include "passes/interpret/simulate/RandomRounding.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

bool interpret::hasDigits(double errorOfOneRank) {
  constexpr double half = 0.5;
  return errorOfOneRank < half;
}

double interpret::accuracyOf(Value value, double errorOfOneRank) {
  if (!hasDigits(errorOfOneRank))
    return HUGE_VAL;
  double rounding = 0;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    rounding = std::max(
        rounding, roundingOf(graph::tensorType(reached[i]).getElementType()));
    if (Operation *op = reached[i].getDefiningOp())
      reached.insert(op->operand_begin(), op->operand_end());
  }
  return lossOfRanks * std::max(errorOfOneRank, rounding);
}

bool interpret::hasNarrowFloats(ModuleOp module) {
  const auto isNarrow = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto narrow =
        type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
    return narrow && narrow.getWidth() < 64;
  };
  return module
      .walk([&](Operation *op) {
        return llvm::any_of(op->getOperands(), isNarrow) ||
                       llvm::any_of(op->getResults(), isNarrow)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

std::string interpret::describe(const AccurateValue &value) {
  std::string text = describe(value.ranks.comparison);
  llvm::raw_string_ostream(text) << ", where one rank has a relative error of "
                                 << llvm::format("%.3g", value.errorOfOneRank);
  return text;
}
