//===- Pins.h - scope guard that marks values named by seeds --------------===//
//
// Users pin the sharding of a value with a seed, `--shard NAME=[...]`. The
// rewrites of phase 2-prepare must not remove such a value.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_PINS_H
#define PCC_PASSES_2_PREPARE_MATCH_PINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::prepare {

/// Scope guard for rewrites of `function`. While the guard exists, ops whose
/// sharding the user fixes with --shard have the attribute `graph.pinned`. No
/// rewrite erases a pinned op or matches it as part of a pattern (see
/// `definedBy`). The user's --shard options are in `dist.seeds` of the module,
/// and name ops by `graph.name`. `function` may change, but must outlive the
/// guard.
class Pins {
public:
  /// Sets `graph.pinned` on the ops of `function` that a seed (entry of
  /// `dist.seeds`) names. Sets it on no op if the module has no `dist.seeds` or
  /// if `function` is in no module.
  explicit Pins(mlir::func::FuncOp function);
  /// Removes `graph.pinned` from all ops, including those to which a rewrite
  /// has moved it.
  ~Pins();
  Pins(const Pins &) = delete;
  Pins &operator=(const Pins &) = delete;

private:
  mlir::func::FuncOp function;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_PINS_H
