//===- LossScale.h - loss scaling for gradients in f16 --------------------===//
//
// Loss scaling (mixed precision training, Micikevicius et al. 2018): gradients
// in f16 underflow to 0, so the backward pass starts from a multiple of the
// loss gradient, and the gradients of the weights are divided by it again.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
#define PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/2-prepare/training/ArithmeticBuilder.h"
#include "status/StatusOr.h"

#include <optional>
#include <string>

namespace pcc::prepare {

/// Loss scale: the factor by which the gradient of the loss is multiplied
/// before the backward pass. Gradients of weights are divided by it afterwards.
/// A step in which a gradient overflows (is not finite) changes no weight and
/// no optimizer state. Values of `--loss-scale`:
///
///   X                                constant scale
///   dynamic(initial=X, interval=N)   starts at X, halved after an overflow,
///                                    doubled after N successive steps without
///
/// The defaults of X and N, 65536 and 2000, are those of PyTorch's GradScaler.
struct LossScale {
  /// The loss scale, if it is constant. If it is dynamic, its value in the
  /// first step. Always positive.
  double initial = 65536;
  /// Number of successive steps with finite gradients after which a dynamic
  /// scale is doubled.
  double interval = 2000;
  /// Whether the scale is dynamic: a state parameter that steps may change.
  /// False if the scale is always `initial`.
  bool isDynamic = true;

  /// Returns the loss scale of the entry `loss_scale` in the module's attribute
  /// `graph.training`. Without that entry, returns a dynamic scale for f16 and
  /// nullopt for other types. Returns an error if the entry is malformed.
  static StatusOr<std::optional<LossScale>> of(mlir::ModuleOp module);

  /// Builds the scale of this step, an f32 scalar. A dynamic scale is read from
  /// the state parameter `pcc.loss_scale`, which the first call creates.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Builds two writes to state parameters: the loss scale of the next step,
  /// and the number of successive steps with finite gradients. `isFinite` is a
  /// Boolean scalar: whether all gradients of this step are finite. Builds
  /// nothing if the loss scale is constant.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
