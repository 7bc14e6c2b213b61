//===- Contractions.cpp - import of matrix products and einsum ------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Imports MatMul. A vector operand is treated as a matrix with one row (left)
/// or one column (right). The added dim is removed from the result.
static Value matmul(NodeImport &n) {
  Value lhs = n.operand(0), rhs = n.operand(1);
  if (n.failed())
    return {};
  if (shapeOf(lhs).empty() || shapeOf(rhs).empty())
    return n.invalid("multiplies a scalar");
  bool row = shapeOf(lhs).size() == 1, column = shapeOf(rhs).size() == 1;
  if (row)
    lhs = n.reshape(lhs, {1, shapeOf(lhs)[0]});
  if (column)
    rhs = n.reshape(rhs, {shapeOf(rhs)[0], 1});
  Value product = n.make<MatmulOp>(lhs, rhs, false, false);
  if (!product || (!row && !column))
    return product;
  SmallVector<int64_t> shape(shapeOf(product));
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return n.reshape(product, shape);
}

/// Imports Gemm: alpha A B + beta C. The attributes transA and transB transpose
/// A and B.
static Value gemm(NodeImport &n) {
  double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  Value lhs = n.operand(0), rhs = n.operand(1);
  if (shapeOf(lhs).size() != 2 || shapeOf(rhs).size() != 2)
    return n.invalid("multiplies tensors that are not matrices");
  Value result = n.make<MatmulOp>(lhs, rhs, n.integer("transA", 0) != 0,
                                  n.integer("transB", 0) != 0);
  if (alpha != 1)
    result = n.mul(result, n.scalarLike(result, alpha));
  if (!n.has(2) || beta == 0)
    return result;
  Value bias = n.operand(2);
  if (beta != 1)
    bias = n.mul(bias, n.scalarLike(bias, beta));
  return n.add(result, bias);
}

/// Imports com.microsoft's FusedMatMul: alpha A B with batch dims. The
/// attributes transA and transB transpose the last two dims of A and B.
static Value fusedMatmul(NodeImport &n) {
  if (n.integer("transBatchA", 0) || n.integer("transBatchB", 0))
    return n.unsupported("transposes batch dims");
  double alpha = n.real("alpha", 1);
  Value result =
      n.make<MatmulOp>(n.operand(0), n.operand(1), n.integer("transA", 0) != 0,
                       n.integer("transB", 0) != 0);
  return alpha == 1 ? result : n.mul(result, n.scalarLike(result, alpha));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// Imports an Einsum node of ONNX as `graph.einsum`, which allows fewer
/// equations. Rewrites an equation without "->", with "...", with a letter
/// twice in one operand, or with a dim of size 1 that is broadcast. Changes the
/// operands to match.
class EinsumExpansion {
public:
  /// Splits `equation`, such as "ij,jk->ik", into the letters of each operand
  /// and those of the result.
  EinsumExpansion(NodeImport &n, std::string equation)
      : n(n), inputs(n.operands()) {
    llvm::erase(equation, ' ');
    auto [left, right] = StringRef(equation).split("->");
    hasResult = StringRef(equation).contains("->");
    result = right.str();
    SmallVector<StringRef> parts;
    left.split(parts, ',');
    for (StringRef part : parts)
      terms.push_back(part.str());
  }

  /// Creates a `graph.einsum` op for the Einsum node, and returns the op's
  /// result. First rewrites the equation and the operands as `graph.einsum`
  /// requires: the equation has a "->" and no "...", no operand has a letter
  /// twice, and no dim of size 1 is broadcast to a larger size. Returns null
  /// after an error.
  Value run() {
    if (terms.size() != inputs.size())
      return n.invalid("has " + counted(inputs.size(), "operand") +
                       ", but its "
                       "equation names " +
                       Twine(terms.size()));
    if (!hasResult)
      writeResult();
    expandEllipses();
    for (size_t i = 0; i < terms.size() && !n.failed(); ++i)
      if (shapeOf(inputs[i]).size() != terms[i].size())
        return n.invalid("has an operand of rank " +
                         Twine(shapeOf(inputs[i]).size()) + " for '" +
                         terms[i] + "'");
    for (size_t i = 0; i < terms.size() && !n.failed(); ++i)
      takeDiagonals(i);
    dropSizeOne();
    if (n.failed())
      return {};
    return n.make<EinsumOp>(llvm::join(terms, ",") + "->" + result,
                            ValueRange(inputs));
  }

private:
  /// Sets `result` for an einsum equation without "->". ONNX defines the result
  /// as the letters that occur once, in alphabetical order, after "..." if an
  /// operand has it. Example: "...jk,...ij" has the result "...ik".
  void writeResult() {
    std::map<char, int> count;
    for (char letter : llvm::join(terms, ""))
      ++count[letter];
    if (count.count('.'))
      result = "...";
    for (auto [letter, times] : count)
      if (times == 1 && letter != '.')
        result += letter;
  }

  /// Returns the letters that the einsum equation does not use, from Z to A and
  /// then from z to a. The dims of "..." get these letters from the last dim to
  /// the first, because ONNX aligns these dims at the last one.
  std::string freeLetters() {
    std::string used = llvm::join(terms, "") + result, free;
    for (char letter :
         StringRef("ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba"))
      if (!StringRef(used).contains(letter))
        free += letter;
    return free;
  }

  /// Replaces "..." in `terms` and `result` by letters that the equation does
  /// not use. Example for operands of rank 4 and 3: "...ij,...jk->...ik"
  /// becomes "YZij,Zjk->YZik".
  void expandEllipses() {
    std::string letters = freeLetters();
    size_t most = 0;
    for (auto [term, input] : llvm::zip_equal(terms, inputs)) {
      size_t at = term.find("..."), rank = shapeOf(input).size();
      if (at == std::string::npos || n.failed())
        continue;
      if (rank + 3 < term.size() || rank + 3 - term.size() > letters.size()) {
        n.invalid("has an operand of rank " + Twine(rank) + " for '" + term +
                  "'");
        return;
      }
      size_t count = rank + 3 - term.size();
      most = std::max(most, count);
      term.replace(at, 3, reversed(letters.substr(0, count)));
    }
    size_t at = result.find("...");
    if (at != std::string::npos)
      result.replace(at, 3, reversed(letters.substr(0, most)));
  }

  static std::string reversed(std::string text) {
    std::reverse(text.begin(), text.end());
    return text;
  }

  /// Replaces operand `i` by its diagonal while two dims of the operand have
  /// the same einsum letter: "ii" becomes "i", and [[1, 2], [3, 4]] becomes [1,
  /// 4].
  void takeDiagonals(size_t i) {
    std::string &term = terms[i];
    for (size_t second = 1; second < term.size() && !n.failed();) {
      size_t first = term.find(term[second]);
      if (first == second) {
        ++second;
        continue;
      }
      SmallVector<int64_t> row(term.size(), 1), column(term.size(), 1);
      row[first] = shapeOf(inputs[i])[first];
      column[second] = shapeOf(inputs[i])[second];
      Value hit = n.compare(Predicate::Equal, n.iota(row, first),
                            n.iota(column, second));
      Value kept = n.select(hit, inputs[i], n.scalarLike(inputs[i], 0));
      inputs[i] = n.reduce(ReduceKind::Sum, kept,
                           {static_cast<int64_t>(second)}, false);
      term.erase(second, 1);
    }
  }

  /// Removes a dim of size 1 from an operand if a larger dim of another operand
  /// has the same einsum letter. Example: "ij,ij->ij" becomes "j,ij->ij" for
  /// operands of the shapes [1, 3] and [2, 3].
  void dropSizeOne() {
    if (n.failed())
      return;
    std::map<char, int64_t> sizes;
    for (auto [term, input] : llvm::zip_equal(terms, inputs))
      for (auto [letter, size] : llvm::zip_equal(term, shapeOf(input)))
        sizes[letter] = std::max(sizes[letter], size);
    for (auto [term, input] : llvm::zip_equal(terms, inputs)) {
      std::string kept;
      SmallVector<int64_t> shape;
      for (auto [letter, size] : llvm::zip_equal(term, shapeOf(input)))
        if (size == sizes[letter]) {
          kept += letter;
          shape.push_back(size);
        }
      if (kept.size() != term.size() &&
          llvm::product_of(shapeOf(input)) == llvm::product_of(shape)) {
        input = n.reshape(input, shape);
        term = kept;
      }
    }
  }

  NodeImport &n;
  /// Operands of the Einsum node. `terms[i]` holds the letters of the dims of
  /// `inputs[i]`, such as "ij".
  SmallVector<Value> inputs;
  std::vector<std::string> terms;
  /// Letters of the dims of the Einsum's result. For the equation "ij,jk->ik",
  /// the letters are "ik".
  std::string result;
  /// Whether the equation of the Einsum node has a "->". The letters after "->"
  /// name the dims of the result: "ij,jk->ki" has the result "ki". For an
  /// equation without "->", the result consists of the letters that occur once,
  /// in alphabetical order: "ij,jk" has the result "ik".
  bool hasResult;
};
} // namespace

static Value einsum(NodeImport &n) {
  if (!n.hasAttribute("equation"))
    return n.invalid("lacks the attribute 'equation'");
  return EinsumExpansion(n, n.text("equation", "")).run();
}

void addContractionOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"MatMul", 1, 2, 2, matmul},
      {"Gemm", 1, 2, 3, gemm},
      {"Einsum", 12, 1, anyNumber, einsum},
  };
  table.add("", forms);
  static constexpr OpForm microsoft[] = {
      {"FusedMatMul", 1, 2, 2, fusedMatmul},
  };
  table.add("com.microsoft", microsoft);
}

} // namespace pcc::onnx_import
