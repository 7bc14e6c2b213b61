//===- Contractions.cpp - gradients of matmul and einsum ------------------===//

#include "dialects/graph/gradients/GradientBuilder.h"
#include "dialects/graph/ops/EinsumEquation.h"

using namespace mlir;
using namespace pcc::graph;

namespace {
/// A tensor whose dims are named by einsum letters, one letter per dim.
struct LetteredValue {
  Value value;
  std::string letters;
};
} // namespace

/// Builds the gradient of `operand`, an einsum operand with the dims `letters`.
/// `terms` are the gradient of the result and all operands except `operand`.
/// For y = einsum("ij,jk->ik", a, c), the gradient of a is einsum("ik,jk->ij",
/// dy, c). The gradient is broadcast along a dim whose letter is in none of
/// `terms`.
static Value contract(GradientBuilder &b, ArrayRef<LetteredValue> terms,
                      Value operand, StringRef letters) {
  std::string all, equation, result;
  SmallVector<Value> values;
  for (const LetteredValue &term : terms) {
    all += term.letters;
    equation += (values.empty() ? "" : ",") + term.letters;
    values.push_back(term.value);
  }
  SmallVector<int64_t> kept, shape(tensorType(operand).getShape());
  for (auto [letter, size] : llvm::zip_equal(letters, shape)) {
    bool has = StringRef(all).contains(letter);
    kept.push_back(has ? size : 1);
    if (has)
      result += letter;
  }
  Value product = equation == result
                      ? values.front()
                      : b.make<EinsumOp>(equation + "->" + result, values);
  return b.broadcast(b.reshape(product, kept), shape);
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// Names the dims of `value`, a matrix or batch of matrices, by einsum letters.
/// The last two dims get the letters `matrix`, and the batch dims get A, B, C
/// from the right. Batch dims of size 1 are removed: [5, 1, 2, 3] becomes
/// [5, 2, 3] with "Bmk".
static LetteredValue named(GradientBuilder &b, Value value, StringRef matrix) {
  SmallVector<int64_t> shape;
  std::string letters;
  ArrayRef<int64_t> own = tensorType(value).getShape();
  for (auto [dim, size] : llvm::enumerate(own)) {
    size_t fromRight = own.size() - dim;
    if (fromRight > 2 && size == 1)
      continue;
    letters += fromRight > 2 ? static_cast<char>('A' + fromRight - 3)
                             : matrix[2 - fromRight];
    shape.push_back(size);
  }
  return {b.reshape(value, shape), letters};
}

/// Returns whether `a` and `b` have equal batch dims, which are all dims but
/// the last two.
static bool sameBatch(Value a, Value b) {
  return tensorType(a).getShape().drop_back(2) ==
         tensorType(b).getShape().drop_back(2);
}

static Value product(GradientBuilder &b, Value lhs, Value rhs,
                     bool transposeLhs, bool transposeRhs) {
  return b.make<MatmulOp>(lhs, rhs, transposeLhs, transposeRhs);
}

/// Builds the gradients of the two operands of a matmul. If an operand has the
/// batch dims of the result, its gradient is a matmul. If the matmul broadcasts
/// the operand along batch dims, its gradient is an einsum that also sums over
/// these dims. A matmul followed by a sum would need more memory, because it
/// would store one gradient per batch index.
Gradients MatmulOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  Value lhs = getLhs(), rhs = getRhs(), dy = gradients.front();
  bool swapLhs = getTransposeLhs(), swapRhs = getTransposeRhs();
  StringRef left = swapLhs ? "km" : "mk", right = swapRhs ? "nk" : "kn";
  auto summed = [&](Value operand, StringRef own, Value other,
                    StringRef others) {
    LetteredValue target = named(b, operand, own);
    Value sum = contract(b, {named(b, dy, "mn"), named(b, other, others)},
                         target.value, target.letters);
    return b.reshape(sum, tensorType(operand).getShape());
  };
  SmallVector<Value> operands(2);
  if (b.wants(lhs) && !sameBatch(lhs, getResult()))
    operands[0] = summed(lhs, left, rhs, right);
  else if (b.wants(lhs))
    operands[0] = swapLhs ? product(b, rhs, dy, swapRhs, true)
                          : product(b, dy, rhs, false, !swapRhs);
  if (b.wants(rhs) && !sameBatch(rhs, getResult()))
    operands[1] = summed(rhs, right, lhs, left);
  else if (b.wants(rhs))
    operands[1] = swapRhs ? product(b, dy, lhs, true, swapLhs)
                          : product(b, lhs, dy, !swapLhs, false);
  return operands;
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

Gradients EinsumOp::buildGradients(GradientBuilder &b, ValueRange gradients) {
  auto equation = *EinsumEquation::parse(getEquation());
  SmallVector<Value> operands;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    operands.emplace_back();
    if (!b.wants(input))
      continue;
    SmallVector<LetteredValue> terms{
        {gradients.front(), equation.result.str()}};
    for (auto [j, other] : llvm::enumerate(getInputs()))
      if (j != i)
        terms.push_back({other, equation.operands[j].str()});
    operands.back() = contract(b, terms, input, equation.operands[i]);
  }
  return operands;
}
