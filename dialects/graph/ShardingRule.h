//===- ShardingRule.h - factor maps: which dims of an op split together ---===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "sharding/ReductionKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pcc::graph {

/// Effect of splitting a factor, which is a loop index of an op that a sharding
/// may split over ranks. For matmul [m,k] x [k,n], the factors are m, n and k.
/// If the kind is Sum, Max, Min or Prod, each rank computes a partial result.
/// The reduction of that kind over the ranks then yields the complete result.
enum class FactorKind : uint8_t {
  Sum = static_cast<uint8_t>(dist::ReductionKind::Sum),
  Max = static_cast<uint8_t>(dist::ReductionKind::Max),
  Min = static_cast<uint8_t>(dist::ReductionKind::Min),
  Prod = static_cast<uint8_t>(dist::ReductionKind::Prod),
  Parallel, ///< The op runs on each part unchanged.
  /// Kind of a factor that ranks can split only if they exchange intermediate
  /// results (ShardingRule::innerValues) while the op runs. The pass
  /// `expand-split-ops` replaces such an op by ordinary ops with reshards
  /// (changes of sharding) between them.
  Inner,
  Whole, ///< The factor must not be split.
};

/// Returns whether `kind` is a reduction (Sum, Max, Min or Prod). If a factor
/// of such a kind is split, each rank computes a partial result.
inline bool isReduction(FactorKind kind) { return kind <= FactorKind::Prod; }

/// Returns the reduction over ranks that combines the partial results of a
/// factor of `kind`. `kind` must be a reduction.
inline dist::ReductionKind reductionOf(FactorKind kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// The sharding rule of an op, similar to an einsum equation and to the factors
/// of Shardy. A factor is a loop index of the op. Each dim of each operand and
/// result has a list of factors, major to minor. The sizes of these factors
/// multiply to the size of the dim. A Parallel factor needs no communication if
/// it is split over the same ranks in every dim that has it. Reduction factors
/// (Sum, Max, …) occur only in operands; if one is split, the results are
/// partial. A dim of size 1 that broadcasts has no factor.
///
///   op                     factors                operands        results
///   matmul [m,k] x [k,n]   m, n Parallel; k Sum   {{m},{k}}       {{m},{n}}
///                                                 {{k},{n}}
///   reshape [6,4] -> [24]  a=6, b=4 Parallel      {{a},{b}}       {{a,b}}
struct ShardingRule {
  /// A factor (loop index of the op) of the rule. Its id is its index in the
  /// list `factors`.
  struct RuleFactor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// Whether each rank needs the first index of its range of the factor if
    /// the factor is split. For example, a split iota must add that index to
    /// its values. The pass `5-localize` then adds an offset or a mask to the
    /// op.
    bool needsOffset = false;
    /// Whether each rank must have one contiguous index range of the factor. If
    /// so, the factor is never divided into a major and a minor factor. A split
    /// of the minor factor alone would leave each rank several separate ranges.
    bool mustBeContiguous = false;
  };
  /// Ids of the factors of one dim of a tensor, major to minor.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// For each dim of a tensor, the ids of its factors.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Indices of the operands through which partial sums may pass: the op is
  /// linear in each of these operands, as in `transpose` and `mul`. If the
  /// ranks hold partial sums of such an operand, the op yields partial sums of
  /// the results. The sum over the ranks can then follow the op.
  llvm::SmallVector<int, 4> partialThrough;
  /// True if all operands in `partialThrough` must be partial over the same
  /// mesh axes, as for `add` and `concat`. False if at most one of these
  /// operands may be partial, as for `mul`.
  bool partialTogether = false;

  /// A windowed read of one operand (halo exchange; GSPMD, Xu et al. 2021).
  /// Ranks split one dim of result 0. Each rank reads the operand elements that
  /// its shard of the result needs, from the ranks that hold them. Several
  /// ranks may read one element. Indices outside the operand stand for padding.
  /// In the examples, two ranks split the dim of the result, and this is the
  /// read of rank 0:
  ///
  ///   x[3:19]             results 0 … 7 read elements 3 … 10
  ///   3x3 filters, pad 1  results 0 … 7 read elements -1 … 8
  struct Window {
    /// A range of result indices that read the operand at a constant step. The
    /// result element with index r, lo ≤ r < hi, reads the operand element with
    /// index source + step · (r - lo). All indices are along the split dim. For
    /// example, x[3:19] has the single stretch lo 0, hi 16, source 3, step 1.
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// Index of the operand that is read, and index of the dim along which it
    /// is read. Ranks split the dim of result 0 with that index.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Number of consecutive operand elements that one result element reads,
    /// e.g. 3 for a filter of 3 rows. `stretches` then has one range, which
    /// maps each result index to the first of these elements. If the extent is
    /// 0, the op copies: each result element is the operand element to which
    /// `stretches` maps its index, or 0 if the operand has no such element.
    int64_t extent = 0;
    /// True if all results together read only a part of the operand's dim, as
    /// in a slice. Communication of this part alone may then save time, even if
    /// no rank splits the result.
    bool narrows = false;
    /// True if the split dim has common factors in operand and result. Ranks
    /// can then split the op along these factors without the windowed read. If
    /// false, they can split the dim only with the windowed read.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// An intermediate tensor that ranks exchange during an op if a factor of
  /// kind Inner is split. If `kind` is a reduction, each rank reduces its part
  /// of the operand, and the exchange reduces the results of all ranks. If
  /// `kind` is Inner, each rank computes `perPart` elements per element of
  /// `dims`, and the exchange gathers the elements of all ranks. The search for
  /// shardings prices the exchange as a reshard (a change of sharding) after
  /// which every rank has the whole tensor.
  ///
  ///   softmax [r, v], v Inner:  {r} by Max, {r} by Sum
  ///   cumsum [n, c], n Inner:   {c} gathered, 1 element per rank
  struct InnerValue {
    /// For each dim of the intermediate tensor, the ids of its factors. Factors
    /// of kind Inner are absent: a softmax of [r, v] along v has {r}.
    TensorFactors dims;
    /// Operation that combines the intermediate results of the ranks: Max, Min,
    /// Sum or Prod, or Inner if the results are gathered.
    FactorKind kind;
    int64_t elementBytes;
    /// Number of elements that each rank sends per element of `dims`. Only used
    /// if `kind` is Inner. For example, a topk of [r, v] along v with k = 5 has
    /// `dims` {r} and `perPart` 5. Each rank sends the 5 largest values of its
    /// part of every row, or all values if its part of v has fewer than 5.
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

/// Returns whether some dim of `tensor` has the factor with id `factor`.
inline bool occursIn(const ShardingRule::TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](const ShardingRule::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SHARDINGRULE_H
