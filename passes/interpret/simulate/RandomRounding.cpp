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

void RandomRounding::apply(Operation *op, Type type,
                           graph::HostTensor &result) {
  const bool adds =
      op->hasTrait<graph::SumsProducts>() || op->hasTrait<graph::IsRowWise>();
  if (!adds || result.kind != graph::ElementKind::Float)
    return;
  Type narrow = numerics == graph::Numerics::Model
                    ? cast<RankedTensorType>(type).getElementType()
                    : Float64Type::get(type.getContext());
  const double error = roundingOf(narrow);
  for (double &element : result.floats)
    element *= random() % 2 ? 1 + error : 1 - error;
}
