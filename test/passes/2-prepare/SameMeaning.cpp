//===- SameMeaning.cpp - a graph before and after it is prepared ----------===//

#include "test/passes/2-prepare/SameMeaning.h"
#include "dialects/graph/reference/Fold.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/2-prepare/Passes.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>
#include <random>

using namespace mlir;
using namespace pcc::graph;

/// Returns a tensor whose elements depend on `seed` alone.
static HostTensor randomTensor(RankedTensorType type, uint32_t seed) {
  HostTensor tensor = HostTensor::zeros(type);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 0.5);
  for (double &value : tensor.floats)
    value = normal(random);
  for (int64_t &value : tensor.ints)
    value = static_cast<int64_t>(random() % 2);
  return tensor;
}

namespace {
/// One run of a function in float64.
class Run {
public:
  explicit Run(func::FuncOp function) : function(function) {}

  /// Fills `results`. Returns an error, or an empty string.
  std::string operator()() {
    for (BlockArgument argument : function.getArguments())
      values[argument] =
          randomTensor(tensorType(argument), argument.getArgNumber());
    for (Operation &op : function.front().without_terminator())
      if (std::string error = step(op); !error.empty())
        return op.getName().getStringRef().str() + " " + error;
    for (Value value : function.front().getTerminator()->getOperands())
      results.push_back(values[value]);
    return "";
  }

  std::vector<HostTensor> results;

private:
  std::string step(Operation &op) {
    if (auto weight = dyn_cast<GetParameterOp>(op)) {
      values[weight.getResult()] =
          randomTensor(tensorType(weight.getResult()),
                       static_cast<uint32_t>(std::hash<std::string>()(
                           weight.getParameter().str())));
      return "";
    }
    std::string error;
    return failed(evaluateOn(values, op, Numerics::Exact, error)) ? error : "";
  }

  struct ByPointer {
    bool operator()(Value a, Value b) const {
      return a.getAsOpaquePointer() < b.getAsOpaquePointer();
    }
  };
  func::FuncOp function;
  std::map<Value, HostTensor, ByPointer> values;
};
} // namespace

/// Returns the largest difference divided by the largest magnitude. NaN equals
/// NaN, and infinities equal themselves.
static double relativeError(const HostTensor &expected, const HostTensor &got) {
  if (expected.shape != got.shape || expected.ints != got.ints)
    return HUGE_VAL;
  double largest = 0, difference = 0;
  for (auto [a, b] : llvm::zip_equal(expected.floats, got.floats)) {
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double distance = std::fabs(a - b);
    difference =
        std::isfinite(distance) ? std::max(difference, distance) : HUGE_VAL;
  }
  for (double value : expected.floats)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  return largest == 0 ? difference : difference / largest;
}

static std::string compare(func::FuncOp before, func::FuncOp after) {
  Run expected(before), got(after);
  for (Run *run : {&expected, &got})
    if (std::string error = (*run)(); !error.empty())
      return error;
  for (auto [i, result] : llvm::enumerate(expected.results))
    if (double error = relativeError(result, got.results[i]); error > 1e-12)
      return "result " + std::to_string(i) + " of @" +
             before.getSymName().str() + " is off by " +
             llvm::formatv("{0:e3}", error).str();
  return "";
}

std::string pcc::prepare::findDifference(StringRef file) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, GraphDialect>();
  registerConstantFolding(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return "does not parse";
  OwningOpRef<ModuleOp> prepared = module->clone();
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createSimplifyGraph());
  passes.addNestedPass<func::FuncOp>(createRecogniseComposites());
  passes.addNestedPass<func::FuncOp>(createSimplifyGraph());
  if (failed(passes.run(*prepared)))
    return "a pass failed";
  for (auto function : module->getOps<func::FuncOp>())
    if (std::string difference = compare(
            function,
            prepared->lookupSymbol<func::FuncOp>(function.getSymName()));
        !difference.empty())
      return difference;
  return "";
}
