//===- Training.cpp - updates and gradients that a model spells out -------===//
//
// ai.onnx.preview.training: an update takes tensors X…, then their gradients,
// then each kind of state, and gives new tensors and states in that order.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GradientOf.h"
#include "dialects/graph/gradients/Differentiate.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/1-import/build/OpTable.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

static StringRef asRef(std::string_view text) {
  return ValueTable::asRef(text);
}

namespace {
/// What an update of one tensor is made of.
struct Update {
  NodeImport &n;
  Value rate, count;
  Value tensor, gradient;
  SmallVector<Value, 2> states;

  Value number(double value) { return n.scalarLike(tensor, value); }
  /// With the gradient of 0.5 norm_coefficient |X|² added.
  Value regularized() {
    const double factor = n.real("norm_coefficient", 0);
    return factor == 0 ? gradient
                       : n.add(n.mul(tensor, number(factor)), gradient);
  }
  /// `later` where steps were made before this one, else `first`.
  Value afterFirst(Value later, Value first) {
    Value some = n.compare(Predicate::Greater, count, n.scalarLike(count, 0));
    return n.select(some, later, first);
  }
  Value as(Value value) { return n.cast(value, elementTypeOf()); }
  Type elementTypeOf() { return tensorType(tensor).getElementType(); }
};

/// The new tensor, then its new states.
using Formula = SmallVector<Value, 3> (*)(Update &);
} // namespace

/// V = alpha V + beta G (beta is 1 at first), X -= R V; or, of Nesterov, R (G +
/// alpha V).
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

/// H += G², X -= R / (1 + T decay) G / (sqrt(H) + epsilon)
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

/// V = alpha V + (1 - alpha) G, H = beta H + (1 - beta) G²,
/// X -= R sqrt(1 - beta^T) / (1 - alpha^T) V / (sqrt(H) + epsilon), X scaled
/// by 1 - norm_coefficient_post; where T is 0, R is taken as it is: with 1 for
/// T, as what is not selected must not be 0 / 0, of which gradients are made.
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

/// Applies a formula to each tensor. There are `numStates` states of each.
template <Formula formula, size_t numStates>
static Value update(NodeImport &n) {
  constexpr size_t perTensor = 2 + numStates;
  SmallVector<Value> values = n.operands(2);
  const size_t count = values.size() / perTensor;
  if (values.empty() || values.size() % perTensor != 0)
    return n.invalid("has " + Twine(values.size()) +
                     " tensors, gradients and states, which are not " +
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

/// Differentiates `y` in front of what comes next. Null, with a mistake, if an
/// op on the way has no gradient.
static SmallVector<Value> differentiated(NodeImport &n, Value y,
                                         ArrayRef<Value> wanted) {
  std::string mistake;
  ScopedDiagnosticHandler handler(
      n.getBuilder().getContext(),
      [&](Diagnostic &diagnostic) { mistake = diagnostic.str(); });
  Value seed = n.full(tensorType(y), 1);
  Operation *next = n.scalar(0, n.getBuilder().getI64Type()).getDefiningOp();
  Gradients gradients = differentiate(y, seed, wanted, next);
  next->erase();
  if (succeeded(gradients))
    return *gradients;
  n.unsupported("cannot differentiate: " + mistake);
  return {};
}

/// Stands for the gradient of the loss by a weight, until 2-prepare builds it.
static Value gradientPlaceholder(NodeImport &n, Value weight, StringRef name) {
  auto get = weight.getDefiningOp<GetParameterOp>();
  if (!get)
    return n.unsupported("differentiates by '" + name +
                         "', which is no initializer that training writes");
  Value seed = n.makeTyped<LossGradientOp>(tensorType(weight));
  if (n.failed())
    return {};
  seed.getDefiningOp()->setAttr(gradientOfName, get.getParameterAttr());
  return n.makeTyped<AccumulateOp>(tensorType(weight), seed);
}

/// The gradients of y by xs, where the node is given the very values that the
/// names in xs and zs stand for.
static Value gradient(NodeImport &n) {
  SmallVector<std::string_view> names = n.textList("xs");
  const size_t numWanted = names.size();
  llvm::append_range(names, n.textList("zs"));
  if (names.size() != n.numOperands())
    return n.invalid("has " + Twine(n.numOperands()) + " operands for " +
                     Twine(names.size()) + " names in xs and zs");
  for (auto [name, input] : llvm::zip_equal(names, n.node.inputs))
    if (input != name)
      return n.unsupported("gives '" + std::string(input) +
                           "' to what is "
                           "differentiated by '" +
                           std::string(name) + "'");
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
