//===- Index.h - where a kernel reads and writes --------------------------===//
//
// An index is an affine sum over leaves whose ranges are known. Quotients and
// remainders, which reshapes bring, are leaves that remember what they divide:
// where both meet again ((i / 8) · 8 + i % 8) they become `i`, so that no
// division is left in a loop that only looks like it needs one.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_KERNEL_INDEX_H
#define PCC_PASSES_7_EMIT_KERNEL_INDEX_H

#include "mlir/IR/Builders.h"
#include <deque>

namespace pcc::emit {

struct IndexLeaf;

/// constant + Σ coefficient · leaf; terms are sorted by their leaves' numbers.
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
  /// What `leaf` is multiplied with; 0 where it does not occur.
  int64_t coefficientOf(const IndexLeaf *leaf) const;
};

/// One index per dim of a tensor.
using MultiIndex = llvm::SmallVector<Index, 4>;

struct IndexLeaf {
  unsigned number = 0;
  /// Values lie in [low, high].
  int64_t low = 0, high = 0;
  /// An i64; null for quotients and remainders.
  mlir::Value value;
  Index base;
  int64_t divisor = 0; ///< 0: a plain value
  bool isRemainder = false;
};

struct IndexRange {
  int64_t low, high;
};

IndexRange rangeOf(const Index &index);

/// Owns the leaves of one kernel. Indices that are divided are never negative.
class IndexSpace {
public:
  static Index constant(int64_t value) { return {value, {}}; }
  /// An i64 in [low, high].
  Index leaf(mlir::Value value, int64_t low, int64_t high);
  Index add(const Index &a, const Index &b);
  Index scale(const Index &a, int64_t factor);
  Index quotient(const Index &a, int64_t divisor);
  Index remainder(const Index &a, int64_t divisor);

  /// Σ place[i] · strides[i].
  Index dot(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> strides);
  /// The row-major position of `place` in `shape`, and back.
  Index linearise(llvm::ArrayRef<Index> place, llvm::ArrayRef<int64_t> shape);
  MultiIndex delinearise(const Index &position, llvm::ArrayRef<int64_t> shape);
  /// delinearise(position + lane, shape), where both are in the same innermost
  /// of the `groups` of neighbouring dims.
  MultiIndex delineariseLane(const Index &position, int64_t lane,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> groups);

  /// Computes the index as an i64.
  mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location loc,
                          const Index &index);

private:
  Index divided(const Index &base, int64_t divisor, bool isRemainder);
  void mergeParts(Index &index);

  std::deque<IndexLeaf> leaves;
};

/// Strides in elements of a dense row-major tensor.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_KERNEL_INDEX_H
