//===- Index.h - affine indices of elements that kernels access -----------===//
//
// An index is an affine sum of leaves whose value ranges are known. Reshapes
// bring quotients and remainders, which are leaves that remember dividend and
// divisor. Quotient and remainder of one dividend cancel where they meet, and
// the ranges resolve many divisions. Loops thus contain no needless division:
//
//   8 · (i / 8) + i % 8   becomes   i
//   (8 · i + j) / 8       becomes   i   for j in [0, 8)
//   (8 · i + j) % 8       becomes   j   for j in [0, 8)
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_INDEX_H
#define PCC_PASSES_7_EMIT_KERNEL_INDEX_H

#include "mlir/IR/Builders.h"
#include <deque>

namespace pcc::emit {

struct IndexLeaf;

/// Affine sum: constant + Σ coefficient · leaf.
///
/// Invariant: terms ascend by the numbers of their leaves, each leaf occurs at
/// most once, and no coefficient is 0.
struct Index {
  struct AffineTerm {
    int64_t coefficient;
    const IndexLeaf *leaf;
    bool operator==(const AffineTerm &) const = default;
  };
  int64_t constant = 0;
  llvm::SmallVector<AffineTerm, 4> terms;

  bool isConstant() const { return terms.empty(); }
  bool operator==(const Index &other) const {
    return constant == other.constant && terms == other.terms;
  }
  /// Returns the coefficient of `leaf`, or 0 if `leaf` does not occur.
  int64_t coefficientOf(const IndexLeaf *leaf) const;
};

/// One index per dim of a tensor.
using MultiIndex = llvm::SmallVector<Index, 4>;

/// Variable of affine indices: an SSA value such as a loop counter, or the
/// quotient or remainder of an index and a constant. Leaves are compared by
/// address; IndexSpace owns them.
struct IndexLeaf {
  /// Position in the order of creation, by which terms are sorted.
  unsigned number = 0;
  /// Inclusive bounds of the leaf's value.
  int64_t low = 0, high = 0;
  /// The SSA value, an i64. Null for a quotient or remainder.
  mlir::Value value;
  /// Dividend of a quotient or remainder.
  Index base;
  int64_t divisor = 0; ///< 0 for an SSA value
  /// True for `base` % `divisor`, false for `base` / `divisor`.
  bool isRemainder = false;
};

/// Inclusive bounds of an index.
struct IndexRange {
  int64_t low, high;
};

/// Returns bounds of `index` that follow from the ranges of its leaves. The
/// exact range can be narrower, since leaves can depend on one another.
IndexRange rangeOf(const Index &index);

/// Arithmetic on the indices of one kernel, and owner of their leaves. An index
/// must not outlive its space. Dividends must never be negative at run time,
/// since materialise() emits unsigned divisions.
class IndexSpace {
public:
  static Index constant(int64_t value) { return {value, {}}; }
  /// Returns the index of `value`, an i64 in [low, high]. If low == high, the
  /// result is a constant.
  Index leaf(mlir::Value value, int64_t low, int64_t high);
  /// Returns a + b.
  Index add(const Index &a, const Index &b);
  /// Returns a · factor.
  Index scale(const Index &a, int64_t factor);
  /// Returns a / divisor, rounded down. `divisor` is positive.
  Index quotient(const Index &a, int64_t divisor);
  /// Returns a % divisor. `divisor` is positive.
  Index remainder(const Index &a, int64_t divisor);

  /// Returns Σ place[i] · strides[i].
  Index dot(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> strides);
  /// Returns the row-major position of multi-index `place` in `shape`.
  Index linearise(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> shape);
  /// Returns the multi-index of the element at row-major `position` in `shape`:
  /// the inverse of linearise().
  MultiIndex delinearise(const Index &position, llvm::ArrayRef<int64_t> shape);
  /// Returns delinearise(position + lane, shape), with indices of outer dims
  /// that do not depend on `lane`. `groups` divides the dims of `shape` into
  /// groups of neighbours. `position` and `position + lane` must differ in dims
  /// of the last group only.
  MultiIndex delineariseLane(const Index &position, int64_t lane,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> groups);

  /// Emits code at `builder` that computes `index`, and returns the i64.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc,
                          const Index &index);

private:
  Index divided(const Index &base, int64_t divisor, bool isRemainder);
  void mergeParts(Index &index);

  /// A deque, since indices hold the addresses of leaves.
  std::deque<IndexLeaf> leaves;
};

/// Returns the strides, in elements, of a dense row-major tensor of `shape`.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_INDEX_H
