//===- Pins.h - values that the user has named ----------------------------===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_PINS_H
#define PCC_PASSES_2_PREPARE_MATCH_PINS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::prepare {

/// While it lives, ops of `function` whose values a seed of the module
/// (`dist.seeds`) names are marked `graph.pinned`: no rewrite removes them or
/// looks through them.
class Pins {
public:
  explicit Pins(mlir::func::FuncOp function);
  ~Pins();
  Pins(const Pins &) = delete;
  Pins &operator=(const Pins &) = delete;

private:
  mlir::func::FuncOp function;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_PINS_H
