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

/// Prices of one step of a plan, as compile and `pcc inspect` tell them.
struct PlanPrice {
  /// Duration of the simulated step, and mean share in which a rank is idle.
  double seconds = 0, idleShare = 0;
  /// Memory of a rank that needs the most, and bytes that a rank that receives
  /// the most receives.
  int64_t memoryBytes = 0, receivedBytes = 0;
  /// Work of each pipeline stage.
  std::vector<StageWork> stages = {};

  bool operator==(const PlanPrice &) const = default;
};

/// Returns the price of the plan `module`, which has passed phase 7-emit.
StatusOr<PlanPrice> priceOf(mlir::ModuleOp module);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_PLANPRICE_H
