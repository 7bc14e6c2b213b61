//===- list_gradients.cpp - which graph ops have a gradient ---------------===//
//
//   pcc-list-gradients FILE.mlir…
//
// Prints a line per op of the dialect, with fields that tabs separate: its
// name; `gradient`, `flat`, `none` or `refused`; the operands that have a
// gradient; the reason of a refusal. The facts come from the ops in the files,
// each of which is differentiated alone. `none` means that no float operand
// leads to a float result, `flat` that the gradient is zero everywhere.
//
//===----------------------------------------------------------------------===//

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/gradients/Differentiate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Facts that the ops of one name have shown.
struct Shown {
  bool hasInterface = false;
  int instances = 0;
  std::set<unsigned> wanted, reached;
  std::set<std::string> refusals;
};
} // namespace

static bool holdsFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         type.getNumElements() > 0;
}

/// Differentiates a copy of `op` with respect to all its operands, which are
/// arguments.
static void differentiateAlone(Operation &op, Shown &shown) {
  SmallVector<Type> types(op.getOperandTypes());
  OpBuilder builder(op.getContext());
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(
      op.getLoc(), "f", builder.getFunctionType(types, {}));
  Block *body = function->addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  Operation *copy = builder.clone(op, mapping);
  copy->setOperands(body->getArguments());
  Operation *end = func::ReturnOp::create(builder, op.getLoc());
  SmallVector<Value> wanted;
  for (auto [i, argument] : llvm::enumerate(body->getArguments()))
    if (holdsFloats(argument)) {
      wanted.push_back(argument);
      shown.wanted.insert(i);
    }
  builder.setInsertionPoint(end);
  for (Value result : copy->getResults()) {
    if (!holdsFloats(result))
      continue;
    auto type = tensorType(result);
    Value seed = ConstantOp::create(
        builder, op.getLoc(), type,
        DenseElementsAttr::get(type,
                               builder.getFloatAttr(type.getElementType(), 1)));
    ScopedDiagnosticHandler handler(op.getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      shown.refusals.insert(diagnostic.str());
                                    });
    Gradients gradients = differentiate(result, seed, wanted, end);
    for (size_t i = 0; succeeded(gradients) && i < wanted.size(); ++i)
      if ((*gradients)[i])
        shown.reached.insert(cast<BlockArgument>(wanted[i]).getArgNumber());
  }
}

static bool readFile(StringRef path, MLIRContext &context,
                     std::map<std::string, Shown> &ops) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return false;
  SmallVector<StringRef> parts;
  file.get()->getBuffer().split(parts, "// -----");
  for (StringRef part : parts) {
    auto module = parseSourceString<ModuleOp>(part, &context);
    if (!module)
      return false;
    module->walk([&](Operation *op) {
      auto known = ops.find(op->getName().getStringRef().str());
      if (known == ops.end())
        return;
      ++known->second.instances;
      bool leads = llvm::any_of(op->getOperands(), holdsFloats) &&
                   llvm::any_of(op->getResults(), holdsFloats);
      if (leads)
        differentiateAlone(*op, known->second);
    });
  }
  return true;
}

static StringRef stateOf(const Shown &shown) {
  if (!shown.reached.empty())
    return "gradient";
  if (!shown.refusals.empty())
    return "refused";
  return shown.hasInterface ? "flat" : "none";
}

static void print(StringRef name, const Shown &shown) {
  llvm::outs() << name << "\t" << stateOf(shown) << "\t";
  llvm::interleave(shown.reached, llvm::outs(), " ");
  llvm::outs() << "\t";
  llvm::interleave(shown.refusals, llvm::outs(), "; ");
  llvm::outs() << "\n";
}

int main(int argc, char **argv) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context
      .loadDialect<GraphDialect, func::FuncDialect, pcc::dist::DistDialect>();
  std::map<std::string, Shown> ops;
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("graph"))
    ops[name.getStringRef().str()].hasInterface =
        name.hasInterface<GradientOpInterface>();
  for (int i = 1; i < argc; ++i)
    if (!readFile(argv[i], context, ops))
      return 1;
  for (auto &[name, shown] : ops) {
    if (shown.instances == 0)
      return llvm::errs() << "no file has " << name << "\n", 1;
    print(name, shown);
  }
  return 0;
}
