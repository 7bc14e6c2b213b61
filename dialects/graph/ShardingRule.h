//===- ShardingRule.h - factor maps: which dims of an op split together ---===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "sharding/ReductionKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pcc::graph {

/// Kind of a factor, which says how ranks can split it. A factor is a loop
/// index of an op: matmul [m,k] x [k,n] has the factors m, n and k. If a Sum,
/// Max, Min or Prod factor is split, each rank computes a partial result.
enum class FactorKind : uint8_t {
  Sum = static_cast<uint8_t>(dist::ReductionKind::Sum),
  Max = static_cast<uint8_t>(dist::ReductionKind::Max),
  Min = static_cast<uint8_t>(dist::ReductionKind::Min),
  Prod = static_cast<uint8_t>(dist::ReductionKind::Prod),
  Parallel, ///< The op runs on each part unchanged.
  /// Kind of a factor (loop index) that ranks can split if they exchange
  /// intermediate results while the op runs. For example, the ranks of a split
  /// softmax exchange row maxima and row sums.
  Inner,
  Whole, ///< The factor must not be split.
};

/// Returns whether `kind`, the kind of a loop index, is a reduction: Sum, Max,
/// Min or Prod. If ranks split such a loop index, each rank computes a partial
/// result.
inline bool isReduction(FactorKind kind) { return kind <= FactorKind::Prod; }

/// Returns the reduction by which ranks combine their partial results, if they
/// split a loop index of kind `kind`. `kind` must be Sum, Max, Min or Prod.
inline dist::ReductionKind reductionOf(FactorKind kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// Sharding rule of an op, similar to Shardy: the factors (loop indices) of
/// each dim of each operand and result. A matmul has the operands {{m},{k}} and
/// {{k},{n}} and the result {{m},{n}}. Ranks can split a Parallel factor, such
/// as m, without communication. A split Sum, Max, Min or Prod factor, such as
/// k, gives partial results. A broadcast dim of size 1 has no factor.
struct ShardingRule {
  /// A factor (loop index of the op). The id of a factor is its index in the
  /// list `factors`.
  struct RuleFactor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// True if each rank must know at which index its part of this loop index
    /// begins. For example, an iota of 8 elements begins with 4 on rank 1 of 2.
    bool needsOffset = false;
    /// True if the part of each rank must be one contiguous range of this loop
    /// index. For example, rank 0 may compute 0, 1, 2, 3, but not 0, 1, 4, 5.
    bool mustBeContiguous = false;
  };
  /// The factors (loop indices of the op) that form one dim of a tensor, major
  /// to minor. Each number is an index in the list `factors`.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// The factors (loop indices of the op) of each dim of a tensor. The lhs
  /// [m,k] of a matmul has {{m},{k}}.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Indices of the operands that may be partial sums (one summand per rank).
  /// The results are then partial sums, too. For a transpose, the list is {0},
  /// because transpose(a + b) = transpose(a) + transpose(b).
  llvm::SmallVector<int, 4> partialThrough;
  /// True if the operands in `partialThrough` must all be partial sums at once,
  /// as for `add`. False if at most one of them may be a partial sum, as for
  /// `mul`.
  bool partialTogether = false;

  /// Windowed read (halo exchange; GSPMD, Xu et al. 2021): the operand elements
  /// that a rank receives for its shard of result 0. A filter of 3 elements
  /// with 1 of padding reads the operand indices -1 to 8 for the result indices
  /// 0 to 7. The index -1 stands for padding.
  struct Window {
    /// A range of result indices, `lo` to `hi` - 1, for which the op reads the
    /// operand at a constant step:
    ///
    ///   result[lo + i] reads operand[source + i · step]
    ///
    /// For example, x[3:19] has one stretch: lo 0, hi 16, source 3, step 1.
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// `operand` is the index of an operand. `dim` is the index of a dim, both
    /// of this operand and of result 0. Ranks can split the dim of result 0.
    /// Each rank then receives the range of the operand's dim that its shard of
    /// result 0 needs. For example, ranks split a convolution of the images
    /// [n,c,h,w] along h: `operand` is 0 and `dim` is 2.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Size of the filter of a convolution or pool along dim `dim`, with the
    /// gaps of the dilation: 3 elements with dilation 2 have the size 5. 0 for
    /// an op without a filter, such as a slice.
    int64_t extent = 0;
    /// True if the op copies only a part of dim number `dim` of the operand to
    /// the result. For example, x has 100 elements, and the slice x[3:19]
    /// copies 16 of them.
    bool narrows = false;
    /// True if ranks can also split dim `dim` of result 0 without a windowed
    /// read. For example, a slice reads the second of three blocks. If ranks
    /// split every block, each rank already has the elements that it needs.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// Tensor of intermediate results that ranks exchange if they split a factor
  /// (loop index) of kind Inner. Each rank computes such a tensor from its
  /// shard of the operand, for example the row maxima of a softmax.
  struct InnerValue {
    /// The factors (loop indices of the op) of each dim of this tensor. For
    /// example, the row maxima of a softmax [r,v] along v have the shape [r,1]
    /// and the factors {{r},{}}. The dim of size 1 has no factor.
    TensorFactors dims;
    /// Collective that combines the intermediate results of all ranks: an
    /// all-gather for Inner, or an all-reduce for Sum, Max, Min and Prod.
    FactorKind kind;
    int64_t elementBytes;
    /// Number of elements that each rank sends per row (line along the split
    /// dim) in the all-gather for kind Inner. A topk sends the k largest
    /// elements of each shard. Unused for all other kinds.
    int64_t perPart = 1;
  };
  llvm::SmallVector<InnerValue, 0> innerValues;

  /// Adds a factor (loop index) of `size` to the rule and returns its id, which
  /// is its index in `factors`.
  int add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
};

/// Returns whether the factor (loop index of an op) with the id `factor`
/// belongs to some dim of `tensor`, an operand or result of the op.
inline bool occursIn(const ShardingRule::TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](const ShardingRule::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SHARDINGRULE_H
