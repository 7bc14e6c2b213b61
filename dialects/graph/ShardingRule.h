//===- ShardingRule.h - how the dims of an op are tied by factors ---------===//

#ifndef PCC_DIALECTS_GRAPH_SHARDINGRULE_H
#define PCC_DIALECTS_GRAPH_SHARDINGRULE_H

#include "llvm/ADT/ArrayRef.h"
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
///   matmul [m,k] x [k,n]:   factors m, n Parallel, k Sum;   operands
///   {{m},{k}}, {{k},{n}};   results {{m},{n}} reshape [6,4] -> [24]:  factors
///   a=6, b=4;               operands {{a},{b}};              results {{a,b}}
struct ShardingRule {
  struct Factor {
    int64_t size;
    FactorKind kind = FactorKind::Parallel;
    /// When split, the op needs its position: an offset or a mask that
    /// `5-localize` adds.
    bool needsOffset = false;
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

  /// Adds a factor; returns its id.
  int add(int64_t size, FactorKind kind = FactorKind::Parallel) {
    factors.push_back({size, kind});
    return static_cast<int>(factors.size()) - 1;
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SHARDINGRULE_H
