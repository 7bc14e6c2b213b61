//===- ShardingRule.h - factor maps: which dims of an op split together ---===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "sharding/ReductionKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pcc::graph {

/// Effect on an op of splitting a factor of its rule.
/// Parts of a factor whose kind is a reduction give partial results, which that
/// reduction makes whole.
enum class FactorKind : uint8_t {
  Sum = static_cast<uint8_t>(dist::ReductionKind::Sum),
  Max = static_cast<uint8_t>(dist::ReductionKind::Max),
  Min = static_cast<uint8_t>(dist::ReductionKind::Min),
  Prod = static_cast<uint8_t>(dist::ReductionKind::Prod),
  Parallel, ///< The op runs on each part unchanged.
  Inner,    ///< Parts exchange the rule's inner values while the op runs;
            ///< `expand-split-ops` rewrites such an op into ordinary ones.
  Whole,    ///< The factor must not be split.
};

/// Returns whether parts of a factor of this kind give partial results.
inline bool isReduction(FactorKind kind) { return kind <= FactorKind::Prod; }

/// Returns the reduction that makes partial results whole. `kind` must be a
/// reduction.
inline dist::ReductionKind reductionOf(FactorKind kind) {
  return static_cast<dist::ReductionKind>(kind);
}

/// The sharding rule of an op, in the manner of einsum and of Shardy's factors.
/// Every dim of every operand and result is a list of factors, major to minor.
/// The product of their sizes is the size of the dim. If a factor is split over
/// the same ranks in every dim that has it, the op needs no communication.
/// Reduction factors occur in operands only; if they are split, the results are
/// partial. A dim of size 1 that broadcasts has no factor.
///
///   op                     factors                operands        results
///   matmul [m,k] x [k,n]   m, n Parallel; k Sum   {{m},{k}}       {{m},{n}}
///                                                 {{k},{n}}
///   reshape [6,4] -> [24]  a=6, b=4 Parallel      {{a},{b}}       {{a,b}}
struct ShardingRule {
  /// One factor; its id is its index in `factors`.
  struct RuleFactor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// Whether a rank must know which index range of the factor it has if the
    /// factor is split. An iota, for example, must add the first index of that
    /// range. The pass `5-localize` then adds an offset or a mask to the op.
    bool needsOffset = false;
    /// Whether each rank must have a contiguous index range of the factor. The
    /// factor is then never divided into smaller factors. Splitting only the
    /// minor of two smaller factors would give a rank several separate ranges.
    bool mustBeContiguous = false;
  };
  /// Ids of the factors of one dim, major to minor.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// The factors of each dim of one tensor.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Indices of the operands through which partial sums may pass. If such an
  /// operand is a partial sum on each rank, the results are partial sums, too,
  /// and can be summed after the op. The op is linear in each of these operands
  /// while the other operands are not partial (`transpose`, `mul`).
  llvm::SmallVector<int, 4> partialThrough;
  /// Whether partial sums pass only if all operands in `partialThrough` are
  /// partial over the same mesh axes, as for `add` and `concat`. If false,
  /// at most one of these operands may be partial, as for `mul`.
  bool partialTogether = false;

  /// A windowed read (halo exchange; GSPMD, Xu et al. 2021): an op reads
  /// shifted elements of one dim of an operand, and ranks divide the same dim
  /// of result 0. Each rank reads the operand elements that its part of the
  /// result needs. Other ranks may hold these elements, several ranks may read
  /// the same element, and elements in the padding do not exist.
  ///
  ///   x[3:11]             results 0 … 7 read elements from 3 on
  ///   3x3 filters, pad 1  results 0 … 15 read elements from -1 on, extent 3
  struct Window {
    /// A range of result indices that read the operand at a constant step: the
    /// result with index r, lo ≤ r < hi, reads the operand's element source +
    /// step · (r - lo).
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// Index of the operand that is read, and index of the dim, which is the
    /// same in the operand and in result 0.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Number of consecutive operand elements that one result reads, the first
    /// of which is computed by the formula of Stretch; 3 for a filter of 3
    /// rows. There is then a single stretch, which contains the indices of all
    /// results. An extent of 0 means a copy: the result is the operand element
    /// of that formula, or 0 if this index lies outside the operand.
    int64_t extent = 0;
    /// Whether all results together read fewer elements than the dim has, as a
    /// slice does. Transferring only these elements can then save time even if
    /// no rank splits the result.
    bool narrows = false;
    /// Whether the dim of the operand has the same factors as the dim of the
    /// result. The op can then be split without the window as well.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// A tensor of intermediate results that ranks exchange while they execute an
  /// op whose Inner factor is split. If `kind` is a reduction, each rank
  /// reduces its part, and the exchange reduces these results over the ranks.
  /// If `kind` is Inner, each rank makes `perPart` elements, and the exchange
  /// gathers those of all ranks. The search prices the exchange as the reshard
  /// that makes the tensor whole.
  ///
  ///   softmax [r, v], v Inner:  {r} by Max, {r} by Sum
  ///   cumsum [n, c], n Inner:   {c} gathered, 1 per part
  struct InnerValue {
    /// The factors of each dim of the tensor. Dims of the op that consist of
    /// Inner factors have no factors here: {r} for a softmax of [r, v].
    TensorFactors dims;
    /// Operation that combines the results of the ranks: Max, Min, Sum or Prod,
    /// or Inner if the results are gathered.
    FactorKind kind;
    int64_t elementBytes;
    /// Only if `kind` is Inner: the number of elements that each rank sends per
    /// element of `dims`. A topk of [r, v] with k = 5 has `dims` {r} and
    /// `perPart` 5: each rank sends the 5 largest values of its part of every
    /// row. A rank whose part of v has only 3 elements sends these 3.
    int64_t perPart = 1;
  };
  llvm::SmallVector<InnerValue, 0> innerValues;

  /// Appends a factor to `factors` and returns its id.
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
