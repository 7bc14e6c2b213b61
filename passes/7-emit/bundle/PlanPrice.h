//===- PlanPrice.h - time, memory and traffic of a plan in one step -------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_PLANPRICE_H
#define PCC_PASSES_7_EMIT_BUNDLE_PLANPRICE_H

#include "mlir/IR/BuiltinOps.h"
#include "status/StatusOr.h"

#include <vector>

namespace pcc::emit {

/// Work of one pipeline stage in one step.
struct StageWork {
  /// Floating-point operations over all ranks of the stage.
  int64_t flops = 0;
  /// Share of the step in which the ranks of the stage are idle, from 0 to 1.
  double idleShare = 0;

  bool operator==(const StageWork &) const = default;
};

/// Predicted costs of one step of a plan. pcc prints them after a compilation,
/// and `pcc inspect` prints them for a bundle.
struct PlanPrice {
  /// `seconds` is the duration of the simulated step. `idleShare` is the share
  /// of the step in which a rank is idle, from 0 to 1, as the mean over the
  /// ranks.
  double seconds = 0, idleShare = 0;
  /// `memoryBytes` is the memory of the rank that needs the most memory.
  /// `receivedBytes` is the number of bytes that arrive at the rank that
  /// receives the most.
  int64_t memoryBytes = 0, receivedBytes = 0;
  /// Work of each pipeline stage.
  std::vector<StageWork> stages = {};

  bool operator==(const PlanPrice &) const = default;
};

/// Returns the price of the plan `module`, which has passed phase 7-emit.
StatusOr<PlanPrice> priceOf(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANPRICE_H
