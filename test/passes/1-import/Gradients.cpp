//===- Gradients.cpp - gradients of an imported module --------------------===//

#include "test/passes/1-import/Gradients.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/gradients/Differentiate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace pcc::graph;

static bool holdsFloats(Value value) {
  return isa<FloatType>(tensorType(value).getElementType()) &&
         tensorType(value).getNumElements() > 0;
}

namespace {
class LossBuilder : public TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;

  /// Returns the sum, in f64, of the finite elements of `value`, each
  /// multiplied by a weight that any float type can represent.
  Value weighted(Value value, std::mt19937 &random) {
    RankedTensorType type = tensorType(value);
    std::uniform_int_distribution<int> weight(1, 4);
    std::vector<double> weights(type.getNumElements());
    for (double &w : weights)
      w = weight(random) * (random() % 2 ? 0.25 : -0.25);
    Value constant = make<ConstantOp>(
        type,
        toAttribute(HostTensor::ofFloats(type.getShape(), weights), type));
    Value zero = scalar(type.getElementType(), 0);
    Value isFinite = compare(Predicate::Equal, make<SubOp>(value, value), zero);
    value = make<SelectOp>(isFinite, value, zero);
    Value product = cast(make<MulOp>(value, constant), getF64Type());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return make<ReduceOp>(ReduceKind::Sum, product, dims, /*keep=*/false,
                          IntegerAttr());
  }

protected:
  void finish(Operation *op) override {}
};

class GradientCheck {
public:
  GradientCheck(ModuleOp module, const ArgumentBytes &arguments)
      : main(module.lookupSymbol<func::FuncOp>("main")), arguments(arguments) {}

  std::string run() {
    for (BlockArgument argument : main.getArguments())
      readArgument(argument);
    const bool hasWeights = !main.getOps<GetParameterOp>().empty();
    if (hasWeights || wanted.empty() || !buildLoss())
      return {};
    Operation *end = main.front().getTerminator();
    LossBuilder builder(end);
    Value seed = builder.scalar(builder.getF64Type(), 1);
    std::string mistake;
    ScopedDiagnosticHandler handler(
        main.getContext(),
        [&](Diagnostic &diagnostic) { mistake = diagnostic.str(); });
    Gradients built = differentiate(loss, seed, wanted, end);
    if (failed(built) || failed(verify(main)))
      return "refused: " + mistake + "\n";
    Tensors all = values;
    if (!evaluateUpTo(nullptr, all))
      return "refused: cannot be evaluated\n";
    for (Value result : end->getOperands())
      if (llvm::any_of(all.find(result)->second.floats,
                       [](double x) { return std::isnan(x); }))
        return {};
    std::string text;
    for (auto [argument, gradient] : llvm::zip_equal(wanted, *built))
      text += compare(cast<BlockArgument>(argument),
                      gradient ? &all.find(gradient)->second : nullptr);
    return text;
  }

private:
  using Tensors = DenseMap<Value, HostTensor>;

  void readArgument(BlockArgument argument) {
    HostTensor tensor = HostTensor::zeros(tensorType(argument));
    const std::string &bytes = arguments[argument.getArgNumber()];
    if (tensor.kind == ElementKind::Float)
      std::memcpy(tensor.floats.data(), bytes.data(), bytes.size());
    else
      std::memcpy(tensor.ints.data(), bytes.data(), bytes.size());
    std::uniform_real_distribution<double> little(0.003, 0.01);
    for (double &element : tensor.floats)
      element += little(random);
    // Cases of casts have infinities, and some have uninitialized memory.
    for (double &element : tensor.floats)
      element = std::fabs(element) < 1e6 ? element : 0.5;
    values[argument] = std::move(tensor);
    if (holdsFloats(argument))
      wanted.push_back(argument);
  }

  bool buildLoss() {
    LossBuilder builder(main.front().getTerminator());
    for (Value result : main.front().getTerminator()->getOperands()) {
      if (!holdsFloats(result))
        continue;
      Value part = builder.weighted(result, random);
      loss = loss ? builder.make<AddOp>(loss, part) : part;
    }
    return bool(loss);
  }

  bool evaluateUpTo(Operation *last, Tensors &all) {
    std::string error;
    return succeeded(pcc::graph::evaluateUpTo(all, main.front(), last, error));
  }

  double lossAt(Value argument, ArrayRef<double> direction, double step) {
    Tensors all = values;
    std::vector<double> &elements = all[argument].floats;
    for (auto [element, share] : llvm::zip_equal(elements, direction))
      element += step * share;
    evaluateUpTo(loss.getDefiningOp(), all);
    return all[loss].floats.front();
  }

  /// The formula is of fourth order, so that steps may be large compared with
  /// rounding errors.
  double difference(Value argument, ArrayRef<double> direction, double step) {
    auto change = [&](double by) {
      return lossAt(argument, direction, by) - lossAt(argument, direction, -by);
    };
    return (8 * change(step) - change(2 * step)) / (12 * step);
  }

  double error(Value argument, ArrayRef<double> direction,
               const HostTensor *gradient) {
    double got = 0, size = 1;
    for (size_t i = 0; gradient && i < direction.size(); ++i) {
      got += gradient->floats[i] * direction[i];
      size = std::max(size, std::fabs(gradient->floats[i] * direction[i]));
    }
    auto errorBy = [&](double step) {
      double expected = difference(argument, direction, step);
      return std::fabs(got - expected) / std::max(size, std::fabs(expected));
    };
    // The longer step is more precise unless an edge is near.
    double byLong = errorBy(1e-4), byShort = errorBy(1e-6);
    return byLong <= byShort || std::isnan(byShort) ? byLong : byShort;
  }

  /// Compares along a random direction and along some elements.
  std::string compare(BlockArgument argument, const HostTensor *gradient) {
    const size_t count = values[argument].floats.size();
    std::uniform_real_distribution<double> share(-1, 1);
    std::vector<double> direction(count);
    for (double &element : direction)
      element = share(random);
    double worst = error(argument, direction, gradient);
    const size_t stride = std::max<size_t>(1, count / 8);
    for (size_t i = 0; i < count; i += stride) {
      std::vector<double> single(count, 0);
      single[i] = 1;
      const double one = error(argument, single, gradient);
      worst = one > worst || std::isnan(one) ? one : worst;
    }
    std::string text;
    llvm::raw_string_ostream(text)
        << main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameName)
               .getValue()
        << (gradient ? " " : " flat ") << llvm::format("%.1e", worst) << "\n";
    return text;
  }

  func::FuncOp main;
  const ArgumentBytes &arguments;
  std::mt19937 random{5};
  Tensors values;
  SmallVector<Value> wanted;
  Value loss;
};
} // namespace

std::string describeGradients(ModuleOp module, const ArgumentBytes &arguments) {
  return GradientCheck(module, arguments).run();
}
