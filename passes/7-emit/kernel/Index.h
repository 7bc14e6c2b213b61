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

/// Index of an element along one dim, as an affine sum: constant + Σ
/// coefficient · leaf. A leaf is a variable, such as a loop counter.
///
/// Invariant: the terms are sorted by the numbers of their leaves, no leaf
/// occurs twice, and no coefficient is 0.
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

/// Variable in affine indices: an SSA value such as a loop counter, or the
/// quotient or remainder of an index and a constant. Leaves are compared by
/// address: two leaves are equal if they are the same object. IndexSpace owns
/// the leaves.
struct IndexLeaf {
  /// Number of the leaf (variable) in the order of creation. An index sorts its
  /// terms by this number.
  unsigned number = 0;
  /// Smallest and largest value that the leaf (variable) can have at run time.
  int64_t low = 0, high = 0;
  /// SSA value of type i64 that holds the leaf (variable). Null if the leaf is
  /// a quotient or remainder.
  mlir::Value value;
  /// Dividend of a leaf (variable) that is a quotient or remainder. Unused for
  /// an SSA value.
  Index base;
  int64_t divisor = 0; ///< 0 for an SSA value
  /// True if the leaf (variable) is the remainder `base` % `divisor`. False if
  /// the leaf is the quotient `base` / `divisor` or an SSA value.
  bool isRemainder = false;
};

/// Smallest and largest value that an index can have at run time.
struct IndexRange {
  int64_t low, high;
};

/// Returns bounds of `index`. Computes them from the bounds of each leaf
/// (variable of the index), as if the leaves were independent. The actual range
/// can be narrower.
IndexRange rangeOf(const Index &index);

/// Arithmetic on the indices of one kernel. Owns the leaves (variables) of the
/// indices, so no index may outlive its IndexSpace. A dividend must not be
/// negative at run time, since materialise() emits unsigned divisions.
class IndexSpace {
public:
  static Index constant(int64_t value) { return {value, {}}; }
  /// Returns an index whose only leaf (variable) is `value`, an i64 in [low,
  /// high] at run time. Returns a constant if low == high.
  Index leaf(mlir::Value value, int64_t low, int64_t high);
  /// Returns the index a + b.
  Index add(const Index &a, const Index &b);
  /// Returns the index a · factor.
  Index scale(const Index &a, int64_t factor);
  /// Returns the index a / divisor, rounded down. `divisor` must be positive.
  Index quotient(const Index &a, int64_t divisor);
  /// Returns the index a % divisor. `divisor` must be positive.
  Index remainder(const Index &a, int64_t divisor);

  /// Returns the index Σ place[i] · strides[i]: the offset, in elements, at
  /// which strided memory holds the element at `place`.
  Index dot(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> strides);
  /// Returns the number, in row-major order, of the element at multi-index
  /// `place` of a tensor of `shape`: 6 for [1, 2] in [3, 4].
  Index linearise(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> shape);
  /// Returns the multi-index of element number `position`, in row-major order,
  /// of a tensor of `shape`. Inverse of linearise(): [1, 2] for 6 in [3, 4].
  MultiIndex delinearise(const Index &position, llvm::ArrayRef<int64_t> shape);
  /// Returns delinearise(position + lane, shape). `lane` is the number of an
  /// element among the neighbouring elements that a thread computes together.
  /// The indices of outer dims do not depend on `lane` in the result, so that
  /// the code for all lanes can share them.
  ///
  /// `groups` divides `shape` into groups of neighbouring dims: for shape [8,
  /// 4, 6], [1, 2] means the groups (8) and (4, 6). The caller guarantees that
  /// adding `lane` to `position` changes only indices in the last group.
  MultiIndex delineariseLane(const Index &position, int64_t lane,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> groups);

  /// Emits code, at the insertion point of `builder`, that computes `index` at
  /// run time. Returns the computed value, an i64.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc,
                          const Index &index);

private:
  Index divided(const Index &base, int64_t divisor, bool isRemainder);
  void mergeParts(Index &index);

  /// All leaves (variables) of the space. Indices contain pointers to leaves. A
  /// deque keeps these pointers valid when leaves are added.
  std::deque<IndexLeaf> leaves;
};

/// Returns the strides, in elements, of a dense row-major tensor of `shape`.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_INDEX_H
