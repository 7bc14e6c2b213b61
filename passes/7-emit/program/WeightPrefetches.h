//===- WeightPrefetches.h - weights gathered before they are needed -------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
#define PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace pcc::emit {

struct ModelFacts;

/// A gather, within an action, of a weight that ranks have parts of: it starts
/// when the gather before it has finished, so that it travels while what needs
/// the weight before computes. One weight more is whole at a time.
///
///   F   start W1 | finish W1 | start W2 | … x·W1 … | finish W2 | start W3 | …
struct Prefetch {
  mutable dist::CollectiveOp collective; ///< whose accessors are not const
  /// What makes its input of the weight, such as a narrower copy of the part.
  std::vector<mlir::Operation *> makers;
  int group; ///< has the ranks of the collective's, and prefetches alone
};

/// All of them, in program order. Adds the groups that they need to those of
/// `facts`, which must know everything else.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
