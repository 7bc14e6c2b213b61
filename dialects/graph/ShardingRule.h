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
/// Every dim of every tensor is a list of factors, major to minor, whose sizes
/// multiply to the dim. If a factor is split alike wherever it occurs, the op
/// stays local. Reduction factors occur in operands only, and splitting them
/// leaves the results partial. A dim of size 1 that broadcasts has no factor.
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
    /// Whether each part must know its global position if the factor is split.
    /// `5-localize` then adds an offset or a mask to the op.
    bool needsOffset = false;
    /// Whether each part must be a contiguous range of indices. The factor is
    /// then never divided into smaller ones, so that no axis splits it with
    /// strides.
    bool mustBeContiguous = false;
  };
  /// Factor ids of one dim, major to minor.
  using DimFactors = llvm::SmallVector<int, 2>;
  /// Factors of each dim of a tensor.
  using TensorFactors = llvm::SmallVector<DimFactors, 4>;

  llvm::SmallVector<RuleFactor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Operands whose partial sums may pass into the results. The op is linear in
  /// each of them while the other operands are whole (`transpose`, `mul`).
  llvm::SmallVector<int, 4> partialThrough;
  /// Whether the op is linear in all of `partialThrough` at once rather than in
  /// each (`add`, `concat`). A partial sum then passes only if all these
  /// operands are partial over the same axes.
  bool partialTogether = false;

  /// A windowed read (halo exchange; GSPMD, Xu et al. 2021) of a dim of an
  /// operand, where the same dim of result 0 is split. Each rank reads the
  /// elements that its part of the result needs. Other ranks may hold them,
  /// several ranks may read them, or they may not exist (padding).
  ///
  ///   x[3:11]             results 0 … 7 from 3
  ///   3x3 filters, pad 1  results 0 … 15 from -1, extent 3
  struct Window {
    /// A range of result indices whose reads are equally far apart: index r in
    /// [lo, hi) reads the element source + step · (r - lo).
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    /// Operand that is read, and number of the dim in it and in result 0.
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< In ascending order.
    /// Number of consecutive elements that one result reads, the first being
    /// the one that its stretch gives; one stretch then covers all results. 0
    /// means a copy: the result is the element that its stretch gives, or zero
    /// if that lies outside the operand.
    int64_t extent = 0;
    /// Whether the results need fewer elements than the dim has. Reading only
    /// these can pay even if nothing is split.
    bool narrows = false;
    /// Whether the dim shares factors with the result, so that the op can be
    /// split without the window, too.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// A value that the parts of an op exchange if an Inner factor is split.
  /// Either every part reduces its share and the results are reduced over the
  /// parts, or every part makes a few elements that all parts gather. The
  /// search prices the exchange as the reshard that makes the value whole.
  ///
  ///   softmax [r, v], v Inner:  {r} by Max, {r} by Sum
  ///   cumsum [n, c], n Inner:   {c} gathered, 1 per part
  struct InnerValue {
    /// Dims of the value, without the Inner factors.
    TensorFactors dims;
    /// Reduction over the parts; Inner if the value is gathered.
    FactorKind kind;
    int64_t elementBytes;
    /// For a gathered value: how many elements each part contributes per
    /// element of `dims`. A part with fewer elements contributes all of them.
    int64_t perPart = 1;
  };
  llvm::SmallVector<InnerValue, 0> innerValues;

  /// Adds a factor and returns its id.
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
