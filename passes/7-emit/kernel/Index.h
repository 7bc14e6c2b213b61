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

/// Index of an element along one dim of a tensor: an affine sum such as 8
/// i + j + 3. The variables i and j are called leaves. Terms are sorted by the
/// numbers of their leaves. No leaf occurs twice, and no coefficient is 0.
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
};

/// Index of an element of a tensor: one affine index per dim.
using MultiIndex = llvm::SmallVector<Index, 4>;

/// Variable in an affine index: an SSA value such as a loop counter, or a
/// quotient or remainder such as i / 8 or i % 8. An IndexSpace owns its
/// variables. Two variables are equal only if their addresses are equal.
struct IndexLeaf {
  /// Number of this variable. An IndexSpace numbers its variables from 1, in
  /// the order in which it creates them. An index is a sum of terms, and a term
  /// is a coefficient times a variable. The terms of an index are sorted by the
  /// numbers of their variables. Example: if i has number 1 and j has number 2,
  /// the term of i comes first in 8 i + j.
  unsigned number = 0;
  /// Smallest and largest value that this variable can have at run time.
  int64_t low = 0, high = 0;
  /// SSA value (i64) of this variable, such as a loop counter. Null if this
  /// variable is not an SSA value, but a quotient or a remainder of an index
  /// and a constant, such as i / 8 or i % 8.
  mlir::Value value;
  /// Dividend, if this variable is the quotient base / divisor or the remainder
  /// base % divisor. Unused if this variable is an SSA value.
  Index base;
  int64_t divisor = 0; ///< 0 for an SSA value
  /// Whether this variable is the remainder of an index and a constant, such as
  /// i % 8. False if this variable is a quotient of an index and a constant,
  /// such as i / 8. Also false if this variable is an SSA value. For i % 8 and
  /// i / 8, the field `base` is i, and the field `divisor` is 8.
  bool isRemainder = false;
};

/// Smallest and largest value that an index can have at run time.
struct IndexRange {
  int64_t low, high;
};

/// Returns a lower and an upper bound of the value of `index` at run time. The
/// bounds can be too wide, because they regard the variables as independent.
IndexRange rangeOf(const Index &index);

/// Arithmetic on the indices of one kernel. Owns the variables of all its
/// indices. An Index must not be used after its IndexSpace is destroyed.
/// quotient() and remainder() require an index that is not negative at run
/// time.
class IndexSpace {
public:
  static Index constant(int64_t value) { return {value, {}}; }
  /// Creates a variable for the SSA value `value`. Returns the index that
  /// consists of this variable alone. `value` is an i64, such as a loop
  /// counter. The caller guarantees that low ≤ value ≤ high at run time.
  ///
  /// If `low` and `high` are equal, `value` can only have this one number. The
  /// function then creates no variable, and returns the constant `low`. It does
  /// so, too, if `high` is less than `low`: a loop over no elements never runs,
  /// so that its index has no value.
  Index leaf(mlir::Value value, int64_t low, int64_t high);
  /// Returns the index a + b.
  Index add(const Index &a, const Index &b);
  /// Returns the index a · factor.
  Index scale(const Index &a, int64_t factor);
  /// Returns the index a / divisor, rounded down. `divisor` must be positive.
  Index quotient(const Index &a, int64_t divisor);
  /// Returns the index a % divisor. `divisor` must be positive.
  Index remainder(const Index &a, int64_t divisor);

  /// Returns Σ place[i] · strides[i]: the offset, in elements, of the element
  /// at `place` in strided memory.
  Index dot(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> strides);
  /// Returns the number, in row-major order, of the element at multi-index
  /// `place` of a tensor of `shape`: 6 for [1, 2] in [3, 4].
  Index linearise(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> shape);
  /// Returns the multi-index of element number `position`, in row-major order,
  /// of a tensor of `shape`. Inverse of linearise(): [1, 2] for 6 in [3, 4].
  MultiIndex delinearise(const Index &position, llvm::ArrayRef<int64_t> shape);
  /// Returns the multi-index of element number `position` + `lane` of a tensor
  /// of `shape`. `groups` holds the number of dims of each group of neighboring
  /// dims. `lane` may change only the indices of the last group. Example:
  /// [2, 0, 5] for `shape` [8, 4, 6], `groups` [1, 2], `position` 50, `lane` 3.
  MultiIndex delineariseLane(const Index &position, int64_t lane,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> groups);

  /// Emits code that computes `index` at run time. Returns its value, an i64.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc,
                          const Index &index);

private:
  Index divided(const Index &base, int64_t divisor, bool isRemainder);
  void mergeParts(Index &index);

  /// Variables of all indices that this object has created, such as loop
  /// counters. Indices hold pointers to these variables. The pointers stay
  /// valid, since a std::deque does not move its elements when it grows.
  std::deque<IndexLeaf> leaves;
};

/// Returns the strides, in elements, of a dense row-major tensor of `shape`.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_INDEX_H
