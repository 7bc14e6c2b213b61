//===- RandomWeights.cpp - kernels that generate random weights -----------===//

#include "passes/7-emit/kernel/RandomWeights.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "runtime/tensor/RandomValues.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

std::optional<ElementTypes>
pcc::emit::randomTypesOf(graph::ParameterOp parameter) {
  graph::WeightAttr weight = parameter.getWeightAttr();
  if (parameter.getFill() || (weight && !weight.isAbsent()))
    return std::nullopt;
  auto type = cast<RankedTensorType>(parameter.getType());
  if (!weight)
    return ElementTypes{type.getElementType()};
  ElementTypes types{weight.getStored().getElementType()};
  for (Attribute transform : weight.getTransforms())
    if (auto convert = dyn_cast<graph::ConvertAttr>(transform))
      types.push_back(convert.getElementType());
  return types;
}

std::vector<ElementTypes> pcc::emit::randomKernelsOf(ModuleOp module) {
  std::vector<ElementTypes> kernels;
  if (dist::targetOf(module) != "cuda")
    return kernels;
  for (auto parameter : module.getOps<graph::ParameterOp>())
    if (auto types = randomTypesOf(parameter);
        types && !llvm::is_contained(kernels, *types))
      kernels.push_back(*types);
  return kernels;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Arguments, of type i64, of a kernel that generates random elements of a
/// weight. Their order is that of the fields of runtime::RandomScalars. Each
/// element has two indices: the source index is its index in the whole weight,
/// and the target index is its index in the memory that the kernel fills. The
/// loops over the elements come last, outermost loop first.
struct Scalars {
  Value key, sourceOffset, targetOffset;
  struct ElementLoop {
    Value extent, sourceStride, targetStride;
  };
  SmallVector<ElementLoop> loops;

  explicit Scalars(ValueRange values)
      : key(values[0]), sourceOffset(values[1]), targetOffset(values[2]) {
    for (ValueRange rest = values.drop_front(3); !rest.empty();
         rest = rest.drop_front(3))
      loops.push_back({rest[0], rest[1], rest[2]});
  }
};
} // namespace

/// Emits the logical right shift of `value` by `bits` bits.
static Value shifted(ScalarBuilder &s, Value value, int64_t bits) {
  return arith::ShRUIOp::create(s.builder, s.loc, value,
                                s.integer(value.getType(), bits));
}

/// Emits the final mixing steps of the random number generator splitmix64, with
/// the same result as runtime/tensor/RandomValues.cpp.
static Value mixed(ScalarBuilder &s, Value value) {
  Type i64 = value.getType();
  value = s.mul(s.exclusive(value, shifted(s, value, 30)),
                s.integer(i64, int64_t(0xbf58476d1ce4e5b9u)));
  value = s.mul(s.exclusive(value, shifted(s, value, 27)),
                s.integer(i64, int64_t(0x94d049bb133111ebu)));
  return s.exclusive(value, shifted(s, value, 31));
}

/// Emits one random element of a weight: a float between −0.05 and 0.05,
/// rounded to `type`, or the integer 0 or 1. Before the rounding, it must equal
/// runtime::randomValue(). `key` is a hash of the random seed and the weight's
/// name. `index` is the row-major index in the whole weight.
static Value randomElement(ScalarBuilder &s, Value key, Value index,
                           Type type) {
  Type i64 = s.builder.getI64Type(), f64 = s.builder.getF64Type();
  Value bits = mixed(
      s,
      s.add(key, s.mul(index, s.integer(i64, int64_t(0x9e3779b97f4a7c15u)))));
  if (!isa<FloatType>(type))
    return s.convert(shifted(s, bits, 63), i64, type);
  Value unit = s.mul(s.convert(shifted(s, bits, 11), i64, f64),
                     s.number(f64, 0x1.0p-53));
  Value centred = s.sub(s.mul(unit, s.number(f64, 2)), s.number(f64, 1));
  const double scale =
      runtime::randomWeight(0, "", runtime::ElementType::F64).scale;
  return s.convert(s.mul(centred, s.number(f64, scale)), f64, type);
}

Value pcc::emit::numRandomElements(KernelWriter &w, ValueRange scalars) {
  ScalarBuilder s = w.scalar();
  Value count = s.integer(w.builder.getI64Type(), 1);
  for (const Scalars::ElementLoop &loop : Scalars(scalars).loops)
    count = s.mul(count, loop.extent);
  return count;
}

void pcc::emit::writeRandomElement(KernelWriter &w, ArrayRef<Type> types,
                                   Value target, ValueRange scalars,
                                   Value number) {
  ScalarBuilder s = w.scalar();
  const Scalars given(scalars);
  Value source = given.sourceOffset, place = given.targetOffset;
  for (const Scalars::ElementLoop &loop : llvm::reverse(given.loops)) {
    Value rest = arith::DivUIOp::create(w.builder, w.loc, number, loop.extent);
    Value at = s.sub(number, s.mul(rest, loop.extent));
    source = s.add(source, s.mul(at, loop.sourceStride));
    place = s.add(place, s.mul(at, loop.targetStride));
    number = rest;
  }
  Value element = randomElement(s, given.key, source, types.front());
  for (auto [from, to] : llvm::zip(types, types.drop_front()))
    element = s.convert(element, from, to);
  const Index position =
      w.indices.leaf(place, 0, std::numeric_limits<int64_t>::max());
  w.store(target, types.back(), position, element);
}
