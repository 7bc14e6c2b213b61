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
/// index of an op: matmul [m,k] x [k,n] has the factors m, n and k. If a factor
/// of kind Sum, Max, Min or Prod is split, each rank computes a partial result.
/// The reduction of that kind over the ranks then yields the complete result.
enum class FactorKind : uint8_t {
  Sum = static_cast<uint8_t>(dist::ReductionKind::Sum),
  Max = static_cast<uint8_t>(dist::ReductionKind::Max),
  Min = static_cast<uint8_t>(dist::ReductionKind::Min),
  Prod = static_cast<uint8_t>(dist::ReductionKind::Prod),
  Parallel, ///< The op runs on each part unchanged.
  /// If a factor of this kind is split, the ranks exchange intermediate results
  /// while the op runs (ShardingRule::innerValues). The pass `expand-split-ops`
  /// replaces the split op by ordinary ops with reshards (changes of sharding)
  /// between them.
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
/// of Shardy. A factor is a loop index of the op. The rule lists the factors of
/// each dim of each operand and result, major to minor:
///
///   op                     factors                operands        results
///   matmul [m,k] x [k,n]   m, n Parallel; k Sum   {{m},{k}}       {{m},{n}}
///                                                 {{k},{n}}
///   reshape [6,4] -> [24]  a=6, b=4 Parallel      {{a},{b}}       {{a,b}}
///
///  - The size of a dim is the product of the sizes of its factors.
///  - A dim of size 1 that broadcasts has no factor.
///  - A Parallel factor needs no communication if all dims with this factor are
///    split over the same ranks.
///  - A reduction factor (Sum, Max, Min, Prod) occurs in operands only. If such
///    a factor is split, the results are partial.
struct ShardingRule {
  /// A factor (loop index of the op). The id of a factor is its index in the
  /// list `factors`.
  struct RuleFactor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// True if a rank must know at which index its part of the factor begins.
    /// For example, an iota of 8 elements on 2 ranks begins with the value 4 on
    /// rank 1. The pass `5-localize` adds the offset, or a mask, to the op.
    bool needsOffset = false;
    /// True if each rank must have one contiguous range of indices. For
    /// example, a factor of 8 must not be divided into a major factor of 2 and
    /// a minor factor of 4. A split of the minor factor over 2 ranks would give
    /// rank 0 the indices 0, 1, 4 and 5.
    bool mustBeContiguous = false;
  };
  /// Ids of the factors of one dim of a tensor, major to minor.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// For each dim of a tensor, the ids of its factors.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Indices of the operands that may be partial sums. The op is linear in each
  /// of these operands, as in `transpose` and `mul`. If such an operand is a
  /// partial sum, the results are partial sums, too. The sum over the ranks can
  /// then follow the op.
  llvm::SmallVector<int, 4> partialThrough;
  /// True if the operands in `partialThrough` must be partial sums together,
  /// over the same mesh axes, as for `add` and `concat`. False if at most one
  /// of these operands may be a partial sum, as for `mul`.
  bool partialTogether = false;

  /// A windowed read of an operand (halo exchange; GSPMD, Xu et al. 2021). The
  /// ranks split one dim of result 0. A rank then receives all operand elements
  /// that its shard of the result needs, some of them from other ranks. Indices
  /// outside the operand stand for padding.
  ///
  /// The examples show two ranks and a result dim of 16. Rank 0 computes the
  /// elements 0 to 7 of the result:
  ///
  ///   op                  operand elements that rank 0 reads
  ///   x[3:19]             3 to 10
  ///   3x3 filters, pad 1  -1 (padding) to 8
  struct Window {
    /// A range of result indices, from `lo` to `hi` - 1, that read the operand
    /// at a constant step. Result index `lo` reads operand index `source`, and
    /// `lo` + 1 reads `source` + `step`. For example, x[3:19] has one stretch:
    /// lo 0, hi 16, source 3, step 1. All indices are along the split dim.
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// Index of the operand that is read, and index of the dim that is split.
    /// The dim has the same index in the operand and in result 0.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Number of consecutive operand elements that one result element reads: 3
    /// for a filter of 3 rows. `stretches` then has one range, which gives the
    /// first of these elements. The extent is 0 if the op only copies, as a
    /// slice or pad does. `stretches` then gives the operand element that each
    /// result element copies.
    int64_t extent = 0;
    /// True if the result needs only a part of the operand's dim, as for a
    /// slice. Communication of this part alone may then be cheaper, even if the
    /// result is not split.
    bool narrows = false;
    /// True if the op can also be split without this windowed read, because the
    /// operand and the result have a common factor in the dim. If false, the
    /// dim can only be split with the windowed read.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// A tensor that the ranks exchange during an op, because a factor of kind
  /// Inner is split. Each rank computes the tensor for its part of the operand.
  /// The exchange then combines the tensors of all ranks:
  ///
  ///   op                     dims  kind   tensor of one rank
  ///   softmax [r,v] along v  {r}   Max    the maximum of each row
  ///                          {r}   Sum    the sum of each row
  ///   cumsum [n,c] along n   {c}   Inner  the sum of each column
  ///
  /// Inner stands for a gather; the other kinds are reductions. The search
  /// prices the exchange as a reshard (a change of sharding) after which every
  /// rank has the combined tensor.
  struct InnerValue {
    /// For each dim of the tensor, the ids of its factors without the factors
    /// of kind Inner.
    TensorFactors dims;
    /// Operation by which the exchange combines the tensors of the ranks: the
    /// reduction Sum, Max, Min or Prod, or a gather (Inner).
    FactorKind kind;
    int64_t elementBytes;
    /// Number of elements that each rank sends per element of `dims`, if `kind`
    /// is Inner. For example, a topk with k = 5 of [r,v] along v has `dims` {r}
    /// and `perPart` 5. Each rank sends the 5 largest values of its part of a
    /// row. If that part has fewer than 5 elements, the rank sends all of them.
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
