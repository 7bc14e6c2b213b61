//===- Differentiated.cpp - functions as text and their gradients ---------===//

#include "test/dialects/graph/gradients/Differentiated.h"
#include "dialects/graph/gradients/Differentiate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace pcc::graph;

static constexpr double step = 1e-5, tolerance = 1e-6;

std::unique_ptr<MLIRContext> pcc::graph::makeContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<GraphDialect, func::FuncDialect>();
  return context;
}

namespace {
using Tensors = DenseMap<Value, HostTensor>;

/// One parsed case with the values of its arguments.
class Session {
public:
  explicit Session(const GradientCase &c)
      : context(makeContext()), staysWhole(c.staysWhole) {
    module = parseSourceString<ModuleOp>("func.func @f(" + c.arguments +
                                             ") {\n" + c.body + "\nreturn }",
                                         context.get());
    if (!module)
      return;
    context->getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
    });
    function = cast<func::FuncOp>(module->getBody()->front());
    Operation *end = function.front().getTerminator();
    target = end->getPrevNode()->getResult(0);
    for (Value argument : function.getArguments())
      if (isa<FloatType>(tensorType(argument).getElementType()))
        wanted.push_back(argument);
  }

  bool isParsed() const { return bool(module); }
  RankedTensorType targetType() { return tensorType(target); }

  /// Fills the arguments with numbers between `low` and `high` that are as far
  /// from each other as possible, in mixed order.
  void spreadArguments(double low, double high) {
    int64_t count = 0, next = 0;
    for (Value argument : wanted)
      count += tensorType(argument).getNumElements();
    std::vector<double> numbers(count);
    for (int64_t i = 0; i < count; ++i)
      numbers[i] = low + (high - low) * (static_cast<double>(i) + 0.43) /
                             static_cast<double>(count);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
    for (Value argument : wanted) {
      HostTensor &tensor = values[argument] =
          HostTensor::zeros(tensorType(argument));
      for (double &element : tensor.floats)
        element = numbers[next++];
    }
  }

  void setArgument(size_t i, ArrayRef<double> numbers) {
    values[wanted[i]] =
        HostTensor::ofFloats(tensorType(wanted[i]).getShape(), numbers.vec());
  }

  /// Builds the gradients for a loss in which `weights` weight the result.
  bool differentiate(ArrayRef<double> weights, GradientBuilder::OnOp onOp) {
    Operation *end = function.front().getTerminator();
    OpBuilder builder(end);
    DenseElementsAttr attr = toAttribute(
        HostTensor::ofFloats(targetType().getShape(), weights.vec()),
        targetType());
    seed = toHost(attr);
    Value constant =
        ConstantOp::create(builder, target.getLoc(), targetType(), attr);
    Gradients built =
        pcc::graph::differentiate(target, constant, wanted, end, onOp,
                                  [&](Operation *) { return staysWhole; });
    if (failed(built) || failed(verify(*module)))
      return false;
    gradients = *built;
    return true;
  }

  /// Evaluates the ops up to `last`; all of them if it is null.
  bool evaluateUpTo(Operation *last, Tensors &all) {
    std::string error;
    return succeeded(
        pcc::graph::evaluateUpTo(all, function.front(), last, error));
  }

  /// Returns the loss at the current arguments.
  double loss() {
    Tensors all = values;
    evaluateUpTo(target.getDefiningOp(), all);
    double sum = 0;
    for (auto [y, weight] : llvm::zip_equal(all[target].floats, seed.floats))
      sum += y * weight;
    return sum;
  }

  double difference(Value argument, size_t i) {
    double &element = values[argument].floats[i], middle = element;
    element = middle + step;
    double above = loss();
    element = middle - step;
    double below = loss();
    element = middle;
    return (above - below) / (2 * step);
  }

  std::unique_ptr<MLIRContext> context;
  const bool staysWhole;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::string message;
  Value target;
  SmallVector<Value> wanted, gradients;
  HostTensor seed;
  Tensors values;
};
} // namespace

static std::string errorOf(const Session &session) {
  return "error: " + (session.isParsed() ? session.message : "does not parse");
}

/// Returns where the gradient of `argument` differs from the central
/// differences.
static std::string compareArgument(Session &session, size_t number,
                                   const Tensors &all) {
  Value argument = session.wanted[number], gradient = session.gradients[number];
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (size_t i = 0; i < session.values[argument].floats.size(); ++i) {
    double expected = session.difference(argument, i);
    double got = gradient ? all.find(gradient)->second.floats[i] : 0;
    if (!(std::fabs(got - expected) <=
          tolerance * std::max(1.0, std::fabs(expected))))
      stream << "argument " << number << " element " << i << ": got "
             << llvm::format("%.9g", got) << ", expected "
             << llvm::format("%.9g", expected) << "\n";
  }
  return text;
}

std::string pcc::graph::compareWithDifferences(const GradientCase &c) {
  Session session(c);
  if (!session.isParsed())
    return errorOf(session);
  session.spreadArguments(c.low, c.high);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> weight(-1, 1);
  std::vector<double> weights(session.targetType().getNumElements());
  for (double &w : weights)
    w = weight(random);
  Tensors all = session.values;
  if (!session.differentiate(weights, nullptr) ||
      !session.evaluateUpTo(nullptr, all))
    return errorOf(session);
  std::string text;
  for (size_t i = 0; i < session.wanted.size(); ++i)
    text += compareArgument(session, i, all);
  return text;
}

std::string
pcc::graph::gradientsAt(const GradientCase &c,
                        const std::vector<std::vector<double>> &arguments) {
  Session session(c);
  if (!session.isParsed())
    return errorOf(session);
  for (auto [i, numbers] : llvm::enumerate(arguments))
    session.setArgument(i, numbers);
  std::vector<double> ones(session.targetType().getNumElements(), 1);
  Tensors all = session.values;
  if (!session.differentiate(ones, nullptr) ||
      !session.evaluateUpTo(nullptr, all))
    return errorOf(session);
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      session.gradients, stream,
      [&](Value gradient) {
        if (!gradient)
          stream << "none";
        else
          llvm::interleave(
              all[gradient].floats, stream,
              [&](double x) { stream << llvm::format("%.6g", x); }, " ");
      },
      "; ");
  return text;
}

/// Returns the names of the ops that `pick` chooses from each forward op and
/// each new op.
static std::string
namesBuilt(const GradientCase &c, ArrayRef<unsigned> wanted,
           llvm::function_ref<Operation *(Operation *, Operation *)> pick) {
  Session session(c);
  if (!session.isParsed())
    return errorOf(session);
  session.wanted.clear();
  for (unsigned number : wanted)
    session.wanted.push_back(session.function.getArgument(number));
  std::string text;
  std::vector<double> ones(session.targetType().getNumElements(), 1);
  bool built =
      session.differentiate(ones, [&](Operation *forward, Operation *made) {
        text += (text.empty() ? "" : " ") +
                pick(forward, made)->getName().getStringRef().str();
      });
  return built ? text : errorOf(session);
}

std::string pcc::graph::opsBuilt(const GradientCase &c,
                                 const std::vector<unsigned> &wanted) {
  return namesBuilt(c, wanted,
                    [](Operation *, Operation *made) { return made; });
}

std::string pcc::graph::opsMirrored(const GradientCase &c,
                                    const std::vector<unsigned> &wanted) {
  return namesBuilt(c, wanted,
                    [](Operation *forward, Operation *) { return forward; });
}

std::vector<std::string> pcc::graph::opsOf(const GradientCase &c) {
  Session session(c);
  std::vector<std::string> names;
  if (session.isParsed())
    for (Operation &op : session.function.front())
      names.push_back(op.getName().getStringRef().str());
  return names;
}
