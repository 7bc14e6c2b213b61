//===- VerifiedValue.cpp - a compared value and its tolerance -------------===//

#include "passes/interpret/compare/VerifiedValue.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::Numerics;

double interpret::toleranceOf(Type elementType, Numerics numerics) {
  if (numerics == Numerics::Exact || elementType.isF64())
    return 1e-12;
  if (elementType.isF16() || elementType.isBF16())
    return elementType.isF16() ? 1e-2 : 5e-2;
  return 1e-4;
}

/// Returns the largest tolerance of `value` and of all values from which it is
/// computed. The cast of a bf16 tensor to f32 has the tolerance of bf16.
double interpret::toleranceOf(Value value, Numerics numerics) {
  double largest = 0;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    largest = std::max(
        largest,
        toleranceOf(graph::tensorType(reached[i]).getElementType(), numerics));
    if (Operation *op = reached[i].getDefiningOp())
      reached.insert(op->operand_begin(), op->operand_end());
  }
  return largest;
}

double interpret::toleranceInside(Type elementType, Numerics numerics) {
  return 1000 * toleranceOf(elementType, numerics);
}

std::string interpret::describe(const Comparison &comparison) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  const Difference &first = *comparison.firstDifference();
  stream << "differs at [";
  llvm::interleaveComma(first.index, stream);
  stream << "]";
  if (first.rank)
    stream << " on rank " << *first.rank;
  stream << ": expected " << llvm::format("%.17g", first.expected) << ", got "
         << llvm::format("%.17g", first.got) << " (relative error "
         << llvm::format("%.3g", comparison.maxError()) << ")";
  return text;
}
