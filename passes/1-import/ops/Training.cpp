//===- Training.cpp - import of the ops of ai.onnx.preview.training -------===//
//
// Optimizer steps (momentum, Adagrad, Adam) and the Gradient op. The operands
// of an optimizer node with tensors X1 to Xn are the learning rate, the step
// count, the tensors, their gradients, and then each kind of state:
//
//   R, T, X1 … Xn, G1 … Gn, V1 … Vn, H1 … Hn
//
// The outputs are the new tensors and then the new states, in the same order.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/gradients/Differentiate.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

namespace {
/// Operands of an optimizer node for the update of one tensor. `count` is the
/// number of earlier steps. `states` are tensors such as the momentum.
struct Update {
  NodeImport &n;
  Value rate, count;
  Value tensor, gradient;
  SmallVector<Value, 2> states;

  /// Creates a scalar constant that holds `value`. The constant has the element
  /// type of the tensor that the optimizer updates.
  Value number(double value) { return n.scalarLike(tensor, value); }
  /// Returns the gradient with L2 regularization. X is the tensor that the
  /// optimizer updates, and G is the gradient of the loss with respect to X.
  /// The attribute norm_coefficient of the optimizer node is a number, 0 by
  /// default. The result is G + norm_coefficient · X.
  Value regularized() {
    const double factor = n.real("norm_coefficient", 0);
    return factor == 0 ? gradient
                       : n.add(n.mul(tensor, number(factor)), gradient);
  }
  /// Selects `first` in the first training step (no earlier steps), and `later`
  /// in all other steps.
  Value afterFirst(Value later, Value first) {
    Value some = n.compare(Predicate::Greater, count, n.scalarLike(count, 0));
    return n.select(some, later, first);
  }
  /// Converts `value` to the element type of the tensor that the optimizer
  /// updates.
  Value as(Value value) { return n.cast(value, elementTypeOf()); }
  Type elementTypeOf() { return tensorType(tensor).getElementType(); }
};

/// A function that creates the ops by which an optimizer updates one tensor.
/// Returns the new tensor, then its new states, such as the momentum.
using Formula = SmallVector<Value, 3> (*)(Update &);
} // namespace

/// Creates the ops for one step of ONNX's Momentum, standard or nesterov.
/// Returns the new tensor and the new momentum. In the first step, the gradient
/// is multiplied by 1 instead of `beta`.
static SmallVector<Value, 3> momentum(Update &u) {
  NodeImport &n = u.n;
  const std::string mode = n.text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    n.invalid("has mode '" + mode +
              "', which is neither standard nor nesterov");
  Value g = u.regularized(), alpha = u.number(n.real("alpha", 0));
  Value weight = u.afterFirst(u.number(n.real("beta", 0)), u.number(1));
  Value v = n.add(n.mul(alpha, u.states[0]), n.mul(weight, g));
  Value direction = mode == "nesterov" ? n.add(g, n.mul(alpha, v)) : v;
  return {n.sub(u.tensor, n.mul(u.as(u.rate), direction)), v};
}

/// Creates the ops for one step of Adagrad (Duchi et al. 2011). Returns the new
/// tensor and the new sum of squared gradients. The learning rate is divided by
/// 1 + T * decay_factor, where T is the number of earlier steps.
static SmallVector<Value, 3> adagrad(Update &u) {
  NodeImport &n = u.n;
  Value g = u.regularized(), count = u.as(u.count);
  Value slower =
      n.add(n.mul(count, u.number(n.real("decay_factor", 0))), u.number(1));
  Value h = n.add(u.states[0], n.mul(g, g));
  Value divisor = n.add(n.make<SqrtOp>(h), u.number(n.real("epsilon", 1e-6)));
  Value step = n.div(n.mul(n.div(u.as(u.rate), slower), g), divisor);
  return {n.sub(u.tensor, step), h};
}

/// Creates the ops for one step of Adam (Kingma & Ba 2015). Returns the new
/// tensor and its two new moments. In ONNX, the first step has no bias
/// correction of the learning rate.
static SmallVector<Value, 3> adam(Update &u) {
  NodeImport &n = u.n;
  const double alpha = n.real("alpha", 0.9), beta = n.real("beta", 0.999);
  Value g = u.regularized(), one = u.number(1);
  Value count = n.make<MaxOp>(u.as(u.count), one);
  Value v =
      n.add(n.mul(u.states[0], u.number(alpha)), n.mul(g, u.number(1 - alpha)));
  Value h = n.add(n.mul(u.states[1], u.number(beta)),
                  n.mul(n.mul(g, g), u.number(1 - beta)));
  auto bias = [&](double base) {
    return n.sub(one, n.make<PowOp>(u.number(base), count));
  };
  Value rate = u.as(u.rate);
  Value adjusted = n.div(n.mul(rate, n.make<SqrtOp>(bias(beta))), bias(alpha));
  Value divisor = n.add(n.make<SqrtOp>(h), u.number(n.real("epsilon", 1e-6)));
  Value x =
      n.sub(u.tensor, n.div(n.mul(u.afterFirst(adjusted, rate), v), divisor));
  return {n.mul(x, u.number(1 - n.real("norm_coefficient_post", 0))), v, h};
}

/// Imports an optimizer node, such as Adam, which may update several tensors.
/// `formula` creates the update of one tensor. Each tensor has `numStates`
/// state tensors, such as the two moments of Adam.
template <Formula formula, size_t numStates>
static Value update(NodeImport &n) {
  constexpr size_t perTensor = 2 + numStates;
  SmallVector<Value> values = n.operands(2);
  const size_t count = values.size() / perTensor;
  if (values.empty() || values.size() % perTensor != 0)
    return n.invalid("has " + counted(values.size(), "tensor") +
                     ", gradients and states, which are not " +
                     Twine(perTensor) + " of each tensor");
  for (size_t i = 0; i < count && !n.failed(); ++i) {
    Update one{n, n.operand(0), n.operand(1), values[i], values[count + i], {}};
    for (size_t s = 0; s < numStates; ++s)
      one.states.push_back(values[(2 + s) * count + i]);
    for (auto [kind, value] : llvm::enumerate(formula(one)))
      if (n.isOutputUsed(kind * count + i) && value)
        n.set(kind * count + i, value);
  }
  return {};
}

/// Creates the gradients of `y` with respect to the values `wanted`. If an op
/// between `wanted` and `y` has no gradient, records an error and returns an
/// empty list.
static SmallVector<Value> differentiated(NodeImport &n, Value y,
                                         ArrayRef<Value> wanted) {
  std::string mistake;
  ScopedDiagnosticHandler handler(
      n.getBuilder().getContext(),
      [&](Diagnostic &diagnostic) { mistake = diagnostic.str(); });
  Value seed = n.full(tensorType(y), 1);
  // Create a temporary op `next`. The function `differentiate` needs `next` as
  // an insertion point: all gradient ops are inserted directly before `next`.
  Operation *next = n.scalar(0, n.getBuilder().getI64Type()).getDefiningOp();
  Gradients gradients = differentiate(y, seed, wanted, next);
  next->erase();
  if (succeeded(gradients))
    return *gradients;
  n.unsupported("cannot differentiate: " + mistake);
  return {};
}

/// Creates a placeholder for the gradient of the loss with respect to `weight`,
/// summed over all microbatches. Phase 2-prepare replaces the placeholder by
/// the computed sum. Records an error that contains `name`, and returns null,
/// if `weight` is not read from a parameter.
static Value gradientPlaceholder(NodeImport &n, Value weight, StringRef name) {
  auto get = weight.getDefiningOp<GetParameterOp>();
  if (!get)
    return n.unsupported("differentiates by '" + name +
                         "', which is not an initializer that training writes");
  Value seed = n.makeTyped<LossGradientOp>(tensorType(weight));
  if (n.failed())
    return {};
  seed.getDefiningOp()->setAttr(graph::gradientOfName, get.getParameterAttr());
  return n.makeTyped<AccumulateOp>(tensorType(weight), seed);
}

/// Imports Gradient: the gradients of the tensor `y` with respect to the
/// tensors `xs`. The operands must be the tensors named in `xs`, then those
/// named in `zs`. If ImportOptions::trainingInfo is set, creates placeholders,
/// which phase 2-prepare replaces by the computed gradients.
static Value gradient(NodeImport &n) {
  SmallVector<std::string_view> names = n.textList("xs");
  const size_t numWanted = names.size();
  llvm::append_range(names, n.textList("zs"));
  if (names.size() != n.numOperands())
    return n.invalid("has " + counted(n.numOperands(), "operand") + " for " +
                     counted(names.size(), "name") + " in xs and zs");
  for (auto [name, input] : llvm::zip_equal(names, n.node.inputs))
    if (input != name)
      return n.unsupported("gives '" + std::string(input) +
                           "' in place of the value '" + std::string(name) +
                           "'");
  Value y = n.named(n.text("y", ""));
  SmallVector<Value> wanted = n.operands();
  wanted.truncate(numWanted);
  if (n.failed() || !y)
    return {};
  for (auto [i, value] : llvm::enumerate(wanted))
    if (n.options.trainingInfo && n.isOutputUsed(i))
      n.set(i, gradientPlaceholder(n, value, asRef(names[i])));
  if (n.options.trainingInfo)
    return {};
  for (auto [value, name] : llvm::zip(wanted, names))
    if (n.known(value))
      return n.unsupported("differentiates by the constant '" +
                           std::string(name) + "'");
  auto gradients = differentiated(n, y, wanted);
  for (auto [i, gradient] : llvm::enumerate(gradients))
    if (n.isOutputUsed(i))
      n.set(i, gradient ? gradient : n.full(tensorType(wanted[i]), 0));
  return {};
}

void addTrainingOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Adam", 1, 2, anyNumber, update<adam, 2>},
      {"Adagrad", 1, 2, anyNumber, update<adagrad, 1>},
      {"Momentum", 1, 2, anyNumber, update<momentum, 1>},
      {"Gradient", 1, 1, anyNumber, gradient},
  };
  table.add("ai.onnx.preview.training", forms);
}

} // namespace pcc::onnx_import
