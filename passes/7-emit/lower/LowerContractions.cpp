//===- LowerContractions.cpp - contractions in the form of libraries ------===//

#include "passes/7-emit/lower/LowerContractions.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/EinsumEquation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

static bool hasFloats(Value value) {
  return isa<FloatType>(tensorType(value).getElementType());
}

static bool contains(StringRef letters, char letter) {
  return letters.contains(letter);
}

namespace {
/// Operand or intermediate result of an einsum. The equation of an einsum, such
/// as "ij,jk->ik", gives each dim of a tensor a letter. The field `letters`
/// contains the letters of the dims of the tensor `value`, in the order of the
/// dims. Example: `letters` is "ij" for a matrix with the dims i and j.
struct EinsumOperand {
  Value value;
  std::string letters;
};

/// Replaces one einsum by simpler ops, such as matmuls, transposes and sums.
/// Inserts the new ops at the place of the einsum, and erases the einsum.
class EinsumLowering {
public:
  explicit EinsumLowering(EinsumOp op)
      : builder(op), loc(op.getLoc()), op(op) {}

  /// Creates ops that compute the result of the einsum, such as matmuls and
  /// transposes. Replaces all uses of the old result by the new result, and
  /// erases the einsum.
  void run() {
    auto equation = *EinsumEquation::parse(op.getEquation());
    SmallVector<EinsumOperand> terms;
    for (auto [value, letters] :
         llvm::zip_equal(op.getInputs(), equation.operands))
      terms.push_back({value, letters.str()});
    // Multiply the operands pairwise, from left to right. Each letter of the
    // equation names a dim. Sum over a dim as soon as its letter is neither in
    // the result nor in a remaining operand.
    EinsumOperand product = terms.front();
    for (size_t i = 1; i < terms.size(); ++i) {
      std::string needed = equation.result.str();
      for (const EinsumOperand &rest : ArrayRef(terms).drop_front(i + 1))
        needed += rest.letters;
      bool isLast = i + 1 == terms.size();
      product = multiply(product, terms[i], needed,
                         isLast ? equation.result.str() : "");
    }
    Value result =
        arranged(summed(product, equation.result.str()), equation.result.str())
            .value;
    op.replaceAllUsesWith(result);
    op.erase();
  }

private:
  int64_t sizeOf(const EinsumOperand &term, char letter) {
    return tensorType(term.value).getDimSize(term.letters.find(letter));
  }

  /// Returns `term`, summed over some of its dims. A letter of the einsum
  /// equation names each dim. `needed` are the letters of the dims that stay.
  EinsumOperand summed(const EinsumOperand &term, StringRef needed) {
    SmallVector<int64_t> dims;
    std::string rest;
    for (auto [dim, letter] : llvm::enumerate(term.letters))
      if (contains(needed, letter))
        rest.push_back(letter);
      else
        dims.push_back(dim);
    if (dims.empty())
      return term;
    Value sum = ReduceOp::create(builder, loc, ReduceKind::Sum, term.value,
                                 dims, /*keep=*/false, IntegerAttr());
    return {sum, rest};
  }

  /// Returns `term`, transposed so that its dims are in the order of `letters`.
  /// Each letter of the einsum equation names a dim.
  EinsumOperand arranged(const EinsumOperand &term,
                         const std::string &letters) {
    if (term.letters == letters)
      return term;
    SmallVector<int64_t> perm;
    for (char letter : letters)
      perm.push_back(term.letters.find(letter));
    return {TransposeOp::create(builder, loc, term.value, perm), letters};
  }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    auto type =
        RankedTensorType::get(shape, tensorType(value).getElementType());
    return ReshapeOp::create(builder, loc, type, value);
  }

  /// Returns `term` with the dims `merged` reshaped into one dim `name`. A
  /// letter of the einsum equation names each dim. If the dims are not adjacent
  /// in this order, first transposes them to the end.
  EinsumOperand merge(EinsumOperand term, const std::string &merged,
                      char name) {
    if (term.letters.find(merged) == std::string::npos) {
      std::string order;
      for (char letter : term.letters)
        if (!contains(merged, letter))
          order.push_back(letter);
      term = arranged(term, order + merged);
    }
    size_t first = term.letters.find(merged);
    SmallVector<int64_t> shape(tensorType(term.value).getShape());
    for (size_t i = 1; i < merged.size(); ++i) {
      shape[first] *= shape[first + 1];
      shape.erase(shape.begin() + first + 1);
    }
    term.letters.replace(first, merged.size(), 1, name);
    return {reshaped(term.value, shape), term.letters};
  }

  /// Multiplies `a` and `b`, and sums over all dims that are not in `needed`. A
  /// letter of the einsum equation names each dim. `letters` is the order of
  /// the dims in the result. If it is empty, the result has the needed dims of
  /// `a`, then the needed dims that only `b` has.
  EinsumOperand multiply(EinsumOperand a, EinsumOperand b,
                         const std::string &needed, std::string letters) {
    a = summed(a, needed + b.letters);
    b = summed(b, needed + a.letters);
    std::string inner;
    for (char letter : a.letters)
      if (!contains(needed, letter))
        inner.push_back(letter);
    if (letters.empty()) {
      for (char letter : a.letters + b.letters)
        if (contains(needed, letter) && !contains(letters, letter))
          letters.push_back(letter);
    }
    if (!hasFloats(a.value))
      return summed(elementWise(a, b, letters + inner), letters);
    if (inner.size() > 1) {
      char name = inner[0];
      a = merge(a, inner, name);
      b = merge(b, inner, name);
    }
    if (!inner.empty())
      if (Value product = matrixProduct(a, b, letters, inner[0]))
        return {product, letters};
    std::string equation = a.letters + "," + b.letters + "->" + letters;
    return {
        EinsumOp::create(builder, loc, equation, ValueRange{a.value, b.value}),
        letters};
  }

  /// Returns the product of `a` and `b`, summed over the dim `inner`, as one
  /// batched matmul. Returns null if one matmul cannot compute it. Example: for
  /// the result "bmn" (`letters`) and `inner` "k", one operand must be "bmk" or
  /// "bkm", and the other one "bkn" or "bnk".
  Value matrixProduct(EinsumOperand a, EinsumOperand b,
                      const std::string &letters, char inner) {
    if (letters.size() < 2)
      return {};
    const std::string batch = letters.substr(0, letters.size() - 2);
    const char row = letters[batch.size()], column = letters[batch.size() + 1];
    if (!contains(a.letters, row))
      std::swap(a, b);
    auto isTransposed = [&](const EinsumOperand &term, char first,
                            char second) {
      return term.letters == batch + second + first;
    };
    auto isMatrix = [&](const EinsumOperand &term, char first, char second) {
      return term.letters == batch + first + second ||
             isTransposed(term, first, second);
    };
    if (!isMatrix(a, row, inner) || !isMatrix(b, inner, column))
      return {};
    return MatmulOp::create(builder, loc, a.value, b.value,
                            isTransposed(a, row, inner),
                            isTransposed(b, inner, column));
  }

  /// Returns the element-wise product of `a` and `b`, with one dim for each of
  /// `letters`. A letter of the einsum equation names each dim. Broadcasts an
  /// operand along the dims that it does not have.
  EinsumOperand elementWise(const EinsumOperand &a, const EinsumOperand &b,
                            const std::string &letters) {
    auto spread = [&](const EinsumOperand &term) {
      std::string own;
      SmallVector<int64_t> shape;
      for (char letter : letters) {
        bool has = contains(term.letters, letter);
        shape.push_back(has ? sizeOf(term, letter) : 1);
        if (has)
          own.push_back(letter);
      }
      return reshaped(arranged(term, own).value, shape);
    };
    return {MulOp::create(builder, loc, spread(a), spread(b)), letters};
  }

  OpBuilder builder;
  Location loc;
  EinsumOp op;
};
} // namespace

/// Replaces a matmul of integers by element-wise products and a sum: [m, 1, k]
/// times [1, n, k], summed over k. Batch dims stay in front. The rest of the
/// compiler supports only matmuls of floats.
static void lowerIntegerMatmul(MatmulOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto prepared = [&](Value value, bool swap, bool isLeft) -> Value {
    int64_t rank = tensorType(value).getRank();
    if (swap) {
      SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(perm[rank - 1], perm[rank - 2]);
      value = TransposeOp::create(builder, loc, value, perm);
    }
    SmallVector<int64_t> shape(tensorType(value).getShape());
    shape.insert(shape.end() - (isLeft ? 1 : 2), 1);
    auto type =
        RankedTensorType::get(shape, tensorType(value).getElementType());
    return ReshapeOp::create(builder, loc, type, value);
  };
  Value lhs = prepared(op.getLhs(), op.getTransposeLhs(), /*isLeft=*/true);
  Value rhs = prepared(op.getRhs(), !op.getTransposeRhs(), /*isLeft=*/false);
  Value product = MulOp::create(builder, loc, lhs, rhs);
  int64_t last = tensorType(product).getRank() - 1;
  Value sum =
      ReduceOp::create(builder, loc, ReduceKind::Sum, product,
                       ArrayRef<int64_t>{last}, /*keep=*/false, IntegerAttr());
  op.replaceAllUsesWith(sum);
  op.erase();
}

void pcc::emit::lowerContractions(func::FuncOp function) {
  for (auto op : llvm::make_early_inc_range(function.getOps<EinsumOp>()))
    EinsumLowering(op).run();
  for (auto op : llvm::make_early_inc_range(function.getOps<MatmulOp>()))
    if (!hasFloats(op.getLhs()))
      lowerIntegerMatmul(op);
}
