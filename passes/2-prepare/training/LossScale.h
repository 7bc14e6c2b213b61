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

#include <optional>
#include <string>

namespace pcc::prepare {

/// The factor by which the gradient of the loss is multiplied before the
/// backward pass, and by which the gradients of the weights are divided after
/// it. A step in which a gradient is not finite (overflow) changes no weight
/// and no optimizer state.
///
/// `--loss-scale X` is a constant scale. `--loss-scale dynamic(initial=X,
/// interval=N)` starts at X, is halved after each step with an overflow, and is
/// doubled after N successive steps without one. The defaults of X and N, 65536
/// and 2000, are those of PyTorch's GradScaler.
struct LossScale {
  /// The constant scale, or the first scale if the scale is dynamic; positive.
  double initial = 65536;
  /// Number of successive finite steps after which a dynamic scale is doubled.
  double interval = 2000;
  /// Whether the scale is a state parameter that changes from step to step.
  bool isDynamic = true;

  /// Returns the scale that the `loss_scale` entry of `graph.training` asks
  /// for. Without that entry, the scale is dynamic if the module computes in
  /// f16 (`graph.precision`); otherwise there is none. Returns nullopt if there
  /// is no scale, and also if the entry is malformed; only then, sets `error`
  /// to the reason.
  static std::optional<LossScale> of(mlir::ModuleOp module, std::string &error);

  /// Builds the scale of the step, an f32 tensor of rank 0. If the scale is
  /// dynamic, reads it from the state parameter `pcc.loss_scale`, which is
  /// created on first use.
  mlir::Value build(ArithmeticBuilder &builder, mlir::ModuleOp module) const;
  /// Builds the writes of the scale and the counter of finite steps for the
  /// next step; nothing if the scale is constant. `isFinite` is a boolean
  /// tensor of rank 0: whether all gradients of the step are finite.
  void update(ArithmeticBuilder &builder, mlir::ModuleOp module,
              mlir::Value isFinite) const;
};

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_TRAINING_LOSSSCALE_H
