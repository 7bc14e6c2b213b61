//===- Optimizers.cpp - optimizers: updates of weights by gradients -------===//

#include "passes/2-prepare/training/Optimizers.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::prepare;

/// Returns gradient + decay · weight. Here, decay is the coefficient of weight
/// decay. This sum is the gradient of the loss with L2 regularization. The loss
/// with L2 regularization is loss + decay / 2 · (sum of weight²).
static Value withDecay(ArithmeticBuilder &b, const UpdateInputs &in) {
  return in.decay == 0 ? in.gradient
                       : b.add(in.gradient, b.mul(in.weight, in.decay));
}

/// Builds a step of SGD with optional momentum, as in torch.optim.SGD, and
/// returns the new weight. Weight decay is added to the gradient.
static Value sgd(ArithmeticBuilder &b, const TrainingRequest &request,
                 const UpdateInputs &in) {
  Value direction = withDecay(b, in);
  if (const double momentum = request.number("momentum", 0); momentum != 0) {
    direction = b.add(b.mul(in.state("momentum"), momentum), direction);
    in.keep("momentum", direction);
  }
  return b.sub(in.weight, b.mul(direction, in.rate));
}

/// Builds Adam's bias correction 1 - beta^step. It is computed in f64, because
/// the difference of two numbers close to 1 loses digits.
static Value bias(ArithmeticBuilder &b, double beta, Value step) {
  return b.subFrom(1, b.make<graph::PowOp>(b.scalarLike(step, beta), step));
}

/// Builds one step of Adam (Kingma and Ba 2015), and returns the new weight.
/// Updates the states exp_avg and exp_avg_sq, which are running averages of the
/// gradient and of its square. `weight` is `in.weight`, or the decayed weight
/// for AdamW.
static Value adamStep(ArithmeticBuilder &b, const TrainingRequest &request,
                      const UpdateInputs &in, Value gradient, Value weight) {
  const double beta1 = request.number("beta1", 0.9),
               beta2 = request.number("beta2", 0.999),
               epsilon = request.number("eps", 1e-8);
  Value first =
      b.add(b.mul(in.state("exp_avg"), beta1), b.mul(gradient, 1 - beta1));
  Value second = b.add(b.mul(in.state("exp_avg_sq"), beta2),
                       b.mul(b.square(gradient), 1 - beta2));
  in.keep("exp_avg", first);
  in.keep("exp_avg_sq", second);
  Type type = graph::tensorType(in.weight).getElementType();
  Value rate = b.div(b.cast(in.rate, b.getF64Type()), bias(b, beta1, in.step));
  Value root = b.cast(b.sqrt(bias(b, beta2, in.step)), type);
  Value divisor = b.add(b.div(b.sqrt(second), root), epsilon);
  return b.sub(weight, b.mul(b.div(first, divisor), b.cast(rate, type)));
}

/// Builds a step of Adam with L2 regularization, and returns the new weight.
/// The function adds c · w to the gradient, and applies Adam's formulas to this
/// sum. Here, w is the weight and c is `in.decay`, the coefficient of weight
/// decay.
static Value adam(ArithmeticBuilder &b, const TrainingRequest &request,
                  const UpdateInputs &in) {
  return adamStep(b, request, in, withDecay(b, in), in.weight);
}

/// Builds a step of AdamW (Loshchilov and Hutter 2019), and returns the new
/// weight. The function first computes weight · (1 - rate · decay). Here, rate
/// is the learning rate, and decay is the coefficient of weight decay. It then
/// applies the formulas of Adam to this product and to the gradient. Weight
/// decay does not change the gradient, and therefore does not change Adam's
/// running averages of the gradient.
static Value adamW(ArithmeticBuilder &b, const TrainingRequest &request,
                   const UpdateInputs &in) {
  Value weight = in.weight;
  if (in.decay != 0)
    weight = b.mul(weight, b.subFrom(1, b.mul(in.rate, in.decay)));
  return adamStep(b, request, in, in.gradient, weight);
}

/// Builds one step of Adagrad (Duchi, Hazan and Singer 2011), and returns the
/// new weight. Weight decay is added to the gradient. The learning rate of step
/// t, counted from 1, is divided by 1 + (t - 1) · `lr_decay`.
static Value adagrad(ArithmeticBuilder &b, const TrainingRequest &request,
                     const UpdateInputs &in) {
  Value gradient = withDecay(b, in);
  Value sum = b.add(in.state("sum"), b.square(gradient));
  in.keep("sum", sum);
  Value rate = in.rate;
  if (const double decay = request.number("lr_decay", 0); decay != 0) {
    Value slower = b.add(b.mul(b.add(in.step, -1), decay), 1);
    rate = b.cast(b.div(b.cast(rate, b.getF64Type()), slower),
                  graph::tensorType(in.weight).getElementType());
  }
  Value divisor = b.add(b.sqrt(sum), request.number("eps", 1e-10));
  return b.sub(in.weight, b.mul(b.div(gradient, divisor), rate));
}

const Optimizer *pcc::prepare::findOptimizer(StringRef name) {
  static constexpr Optimizer table[] = {
      {"sgd", 1e-3, 0, sgd},
      {"adam", 1e-3, 0, adam},
      {"adamw", 1e-3, 1e-2, adamW},
      {"adagrad", 1e-2, 0, adagrad},
  };
  const auto *found = llvm::find_if(table, [&](const Optimizer &optimizer) {
    return optimizer.name == name;
  });
  return found == std::end(table) ? nullptr : found;
}
