//===- RandomRounding.cpp - Monte Carlo arithmetic for one rank -----------===//

#include "passes/interpret/simulate/RandomRounding.h"
#include "dialects/graph/GraphDialect.h"

#include <cmath>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;

double interpret::roundingOf(Type type) {
  auto narrow = dyn_cast<FloatType>(type);
  return narrow ? std::ldexp(1, -static_cast<int>(narrow.getFPMantissaWidth()))
                : 0;
}

/// Returns whether the result of `op` is a sum of elements of its operands, or
/// of products of their elements. Examples: a matrix multiplication and the
/// mean of a row.
static bool addsTerms(Operation *op) {
  return op->hasTrait<graph::SumsProducts>() || isa<graph::ReduceOp>(op);
}

void RandomRounding::change(Type type, graph::HostTensor &tensor) {
  Type narrow = numerics == graph::Numerics::Model
                    ? cast<RankedTensorType>(type).getElementType()
                    : Float64Type::get(type.getContext());
  const double error = roundingOf(narrow);
  for (double &element : tensor.floats)
    element *= random() % 2 ? 1 + error : 1 - error;
}

void RandomRounding::apply(Operation *op, Type type,
                           graph::HostTensor &result) {
  const bool adds =
      op->hasTrait<graph::SumsProducts>() || op->hasTrait<graph::IsRowWise>();
  if (adds && result.kind == graph::ElementKind::Float)
    change(type, result);
}

std::vector<graph::HostTensor> RandomRounding::applyToTerms(
    Operation *op, MutableArrayRef<const graph::HostTensor *> operands) {
  std::vector<graph::HostTensor> changed;
  if (!addsTerms(op))
    return changed;
  changed.reserve(operands.size());
  for (auto [operand, tensor] : llvm::zip_equal(op->getOperands(), operands))
    if (tensor->kind == graph::ElementKind::Float) {
      changed.push_back(*tensor);
      change(operand.getType(), changed.back());
      tensor = &changed.back();
    }
  return changed;
}
