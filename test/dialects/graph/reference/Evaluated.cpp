//===- Evaluated.cpp - ops given as text, results given as text -----------===//

#include "test/dialects/graph/reference/Evaluated.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/Fold.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"
#include "test/dialects/graph/reference/EvaluateOn.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace {
struct Session {
  DialectRegistry registry;
  MLIRContext context;

  Session() : context(MLIRContext::Threading::DISABLED) {
    registry.insert<GraphDialect>();
    registerConstantFolding(registry);
    context.appendDialectRegistry(registry);
  }
};
} // namespace

static void append(std::string &text, Attribute attr) {
  llvm::raw_string_ostream stream(text);
  if (!text.empty())
    stream << "; ";
  attr.print(stream);
}

static void append(std::string &text, const HostTensor &tensor) {
  llvm::raw_string_ostream stream(text);
  if (!text.empty())
    stream << "; ";
  llvm::interleave(tensor.shape, stream, "x");
  stream << ":";
  for (double value : tensor.floats)
    stream << llvm::format(" %.6g", std::isnan(value) ? NAN : value);
  for (int64_t value : tensor.ints)
    stream << " " << value;
}

std::string pcc::graph::evaluated(StringRef ops, Numerics numerics) {
  Session session;
  auto module = parseSourceString<ModuleOp>(ops, &session.context);
  if (!module)
    return "error: does not parse";
  DenseMap<Value, HostTensor> values;
  std::string text;
  for (Operation &op : *module->getBody()) {
    std::string error;
    if (failed(evaluateOn(values, op, numerics, error)))
      return "error: " + error;
    text.clear();
    for (Value result : op.getResults())
      append(text, values[result]);
  }
  return text;
}

std::string pcc::graph::folded(StringRef ops) {
  Session session;
  auto module = parseSourceString<ModuleOp>(ops, &session.context);
  if (!module)
    return "error: does not parse";
  Operation &op = module->getBody()->back();
  SmallVector<Attribute> operands(op.getNumOperands());
  for (auto [value, attr] : llvm::zip_equal(op.getOperands(), operands))
    matchPattern(value, m_Constant(&attr));
  SmallVector<OpFoldResult> results;
  if (failed(op.fold(operands, results)))
    return "not folded";
  std::string text;
  for (OpFoldResult result : results)
    append(text, cast<Attribute>(result));
  return text;
}
