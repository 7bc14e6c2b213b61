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

/// Scope guard for rewrites of `function`. While it exists, ops whose sharding
/// the user fixes with --shard have the attribute `graph.pinned`. Rewrites
/// neither erase nor match these ops (see `definedBy`). `function` may change,
/// but must outlive the guard.
class Pins {
public:
  /// Sets the attribute `graph.pinned` on each op of `function` whose sharding
  /// the user fixes. The user fixes a sharding with an option such as `--shard
  /// w=[tp,-]`. The attribute `dist.seeds` of the module contains the texts of
  /// all these options. An op gets the attribute `graph.pinned` if its name
  /// matches the name in one of the texts. The name in the text may be a glob
  /// pattern, such as h.*.w.
  explicit Pins(mlir::func::FuncOp function);
  /// Removes the attribute `graph.pinned` from all ops of the function.
  ~Pins();
  Pins(const Pins &) = delete;
  Pins &operator=(const Pins &) = delete;

private:
  mlir::func::FuncOp function;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_PINS_H
