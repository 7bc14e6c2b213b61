//===- AllPairs.h - reductions over pairs of positions --------------------===//
//
// Sorting, scans and scatters compare each position of a dim with all others:
// results are reductions over pairs. No pair is ever in memory, because a
// kernel computes what it reduces.
//
// Tensors are [outer, size, inner] around the dim. Where there are inner
// elements these stay neighbours; where there are none, the others of a pair
// are:
//
//   [outer, others, each, inner]       [outer, each, others]
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// A tensor around one dim: [outer, size, inner].
mlir::Value around(LoweringBuilder &b, mlir::Value value, int64_t dim);

/// AllPairs of the positions of two tensors of `inner` elements behind the dim.
class AllPairs {
public:
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// `value`, [outer, size, inner] or 1 of a dim, as the one or the other of
  /// each pair.
  mlir::Value each(mlir::Value value);
  mlir::Value other(mlir::Value value);
  /// The positions themselves.
  mlir::Value eachPosition(int64_t size);
  mlir::Value otherPosition(int64_t size);

  /// Combines all others: [outer, each, inner].
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
