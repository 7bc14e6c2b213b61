//===- ShardingRule.h - how the dims of an op are tied by factors ---------===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace pcc::graph {

/// What splitting a factor does to an op.
enum class FactorKind : uint8_t {
  Parallel, ///< the op runs on each part as it is
  Sum,      ///< each part gives a partial result, to be summed
  Max,      ///< … to be max-ed
  Min,      ///< … to be min-ed
  Prod,     ///< … to be multiplied
  Inner,    ///< the parts exchange the rule's inner values; `expand-split-ops`
            ///< makes ordinary ops of that
  Whole,    ///< must not be split
};

inline bool isReduction(FactorKind kind) {
  return kind >= FactorKind::Sum && kind <= FactorKind::Prod;
}

/// A rule in the manner of einsum: every dim of every tensor is a list of
/// factors, major to minor, whose sizes multiply to the dim. Splitting a factor
/// the same way everywhere it occurs keeps the op local; reduction factors
/// occur in operands only and leave the results partial. A dim of size 1 that
/// broadcasts has no factor.
///
///   op                     factors                operands        results
///   matmul [m,k] x [k,n]   m, n Parallel; k Sum   {{m},{k}}       {{m},{n}}
///                                                 {{k},{n}}
///   reshape [6,4] -> [24]  a=6, b=4 Parallel      {{a},{b}}       {{a,b}}
struct ShardingRule {
  struct Factor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// When split, the op needs its position: an offset or a mask that
    /// `5-localize` adds.
    bool needsOffset = false;
    /// Each part must be one run of indices: the factor is never cut finer, so
    /// that no axis takes it with strides.
    bool mustBeContiguous = false;
  };
  using DimFactors = llvm::SmallVector<int, 2>; ///< factor ids, major to minor
  using TensorFactors = llvm::SmallVector<DimFactors, 4>; ///< per dim

  llvm::SmallVector<Factor, 8> factors;
  llvm::SmallVector<TensorFactors, 4> operands;
  llvm::SmallVector<TensorFactors, 2> results;
  /// Operands through which a partial sum may flow into the results: linear in
  /// that operand alone (`transpose`, `mul` by a whole value). For `add` and
  /// `sub` all operands are listed and all must be partial together
  /// (`partialTogether`).
  llvm::SmallVector<int, 4> partialThrough;
  bool partialTogether = false;

  /// How a dim of an operand is read where the same dim of result 0 is split:
  /// each rank then takes what its part of the result needs, which may lie on
  /// other ranks, more than once or nowhere.
  ///
  ///   x[3:11]             results 0 … 7 from 3
  ///   3x3 filters, pad 1  results 0 … 15 from -1, extent 3
  struct Window {
    /// Results [lo, hi) read from `source` on, `step` further for each.
    struct Stretch {
      int64_t lo, hi, source, step = 1;
    };
    int operand, dim;
    llvm::SmallVector<Stretch, 2> stretches; ///< ascending
    /// Neighbouring elements that one result reads. None: the operand's
    /// elements are the results, and where there are none are zeros. Otherwise
    /// there is one stretch, of all results.
    int64_t extent = 0;
    /// The results are fewer elements than the dim has: to take these alone can
    /// pay where nothing is split, too.
    bool narrows = false;
    /// The dim has factors in common with the result: there is another way to
    /// split it.
    bool optional = false;
  };
  llvm::SmallVector<Window, 0> windows;

  /// What the parts of an op have to know of each other when an Inner factor is
  /// split: a value that every part reduces its share of, or of which every
  /// part makes a few elements that all need. The search prices it as the
  /// reshard that makes it whole.
  ///
  ///   softmax [r, v], v Inner:  {r} by Max, {r} by Sum
  ///   cumsum [n, c], n Inner:   {c} gathered, 1 per part
  struct InnerValue {
    TensorFactors dims; ///< without Inner factors
    FactorKind kind;    ///< how it is reduced; Inner: it is gathered
    int64_t elementBytes;
    /// Elements per part and element of `dims` that are gathered; fewer where a
    /// part has fewer.
    int64_t perPart = 1;
  };
  llvm::SmallVector<InnerValue, 0> innerValues;

  /// Adds a factor; returns its id.
  int add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
};

/// Whether some dim of `tensor` has `factor`.
inline bool occursIn(const ShardingRule::TensorFactors &tensor, int factor) {
  return llvm::any_of(tensor, [&](const ShardingRule::DimFactors &dim) {
    return llvm::is_contained(dim, factor);
  });
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SHARDINGRULE_H
