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

/// Scope guard. The constructor marks every op of `function` with
/// `graph.pinned` whose name (`graph.name`) a seed of the module (`dist.seeds`)
/// matches. The destructor removes all marks. In between, no rewrite removes a
/// marked op or looks through it (`definedBy`). The function must outlive the
/// guard and may change in the meantime.
class Pins {
public:
  /// Marks the ops. A module without `dist.seeds`, or no module at all, marks
  /// none.
  explicit Pins(mlir::func::FuncOp function);
  /// Removes the marks, also from ops that a rewrite has moved a pin to.
  ~Pins();
  Pins(const Pins &) = delete;
  Pins &operator=(const Pins &) = delete;

private:
  mlir::func::FuncOp function;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_PINS_H
