//===- LossScale.h - keep small gradients in the range of f16 -------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// What the gradient of the loss is multiplied by, so that gradients behind it
/// do not vanish in a narrow type; gradients of weights are divided by it. A
/// step with a gradient that is not finite changes no weight and no state.
///
/// `--loss-scale X` is always the same; `--loss-scale dynamic(initial=X,
/// interval=N)` halves after such a step and doubles after N others in a row,
/// from X on (65536 and 2000 unless said).
struct LossScale {
  double initial = 65536;
  double interval = 2000;
  bool isDynamic = true;

  /// What the module asks for; dynamic if it computes in f16 and says nothing
  /// else. Nothing for no scale, and for text of another form, of which
  /// `error` then says what is wrong.
  static std::optional<LossScale> of(mlir::ModuleOp module, std::string &error);

  /// The scale of this step, an f32 scalar.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Writes the scale of the next step. `isFinite` is a boolean scalar.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
