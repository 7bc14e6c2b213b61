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
/// before the backward pass. After the backward pass the gradients of the
/// weights are divided by this factor. A step in which a gradient overflows (is
/// not finite) changes no weight and no optimizer state.
///
/// `--loss-scale X` gives a constant scale. `--loss-scale dynamic(initial=X,
/// interval=N)` gives a scale that starts at X. The scale is halved after each
/// step with an overflow, and doubled after N successive steps without an
/// overflow. The defaults of X and N, 65536 and 2000, are those of PyTorch's
/// GradScaler.
struct LossScale {
  /// The constant scale or, if the scale is dynamic, its initial value;
  /// positive.
  double initial = 65536;
  /// Number of successive steps with finite gradients after which a dynamic
  /// scale is doubled.
  double interval = 2000;
  /// Whether the scale is dynamic: a state parameter that steps may change.
  /// False if the scale is always `initial`.
  bool isDynamic = true;

  /// Returns the loss scale that the entry `loss_scale` of the module's
  /// attribute `graph.training` describes. Without that entry, returns a
  /// dynamic scale if the module computes in f16 (`graph.precision`), else
  /// nullopt. Returns an error if the entry is malformed.
  static StatusOr<std::optional<LossScale>> of(mlir::ModuleOp module);

  /// Builds the scale of this step, an f32 scalar. A dynamic scale is read from
  /// the state parameter `pcc.loss_scale`, which the first call creates.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Builds the writes of the next step's scale and of the counter of finite
  /// steps. Builds nothing if the scale is constant. `isFinite` is a boolean
  /// scalar: whether all gradients of this step are finite.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
