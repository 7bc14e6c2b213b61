//===- RankMesh.cpp - mesh of ranks, and layouts of tensors over it -------===//

#include "passes/7-emit/program/RankMesh.h"

#include <cassert>

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

RankMesh::RankMesh(dist::Mesh given, int64_t numPositions,
                   int64_t numMicrobatches)
    : mesh(std::move(given)), rankMesh(mesh.spatial()) {
  assert(numPositions > 0 && numMicrobatches > 0 && "an empty pipeline");
  rankMesh.axes.insert(rankMesh.axes.begin(), dist::Axis{"pp", numPositions});
  rankMesh.axes.push_back({std::string(dist::timeAxis), numMicrobatches});
}

runtime::Layout emit::layoutOf(const dist::Sharding &sharding,
                               ArrayRef<int64_t> shape) {
  runtime::Layout layout = runtime::wholeLayout(
      dist::viewedShape(sharding, dist::Shape(shape.begin(), shape.end())));
  for (auto [made, dim] : llvm::zip_equal(layout.dims, sharding.dims)) {
    if (!dim.factors.empty())
      made.factors = dim.factors;
    made.view = dim.view;
  }
  return layout;
}

/// Returns the runtime's type for `type`. A signless integer counts as signed,
/// and i1 is Bool. Returns std::nullopt if the runtime has no integer of this
/// width.
static std::optional<runtime::ElementType> integerType(IntegerType type) {
  using runtime::ElementType;
  const bool isUnsigned = type.isUnsigned();
  switch (type.getWidth()) {
  case 1:
    return ElementType::Bool;
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? ElementType::U32 : ElementType::I32;
  case 64:
    return isUnsigned ? ElementType::U64 : ElementType::I64;
  default:
    return std::nullopt;
  }
}

std::optional<runtime::ElementType> emit::elementTypeOf(Type type) {
  using runtime::ElementType;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integerType(integer);
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  return std::nullopt;
}

runtime::ElementType emit::elementTypeOf(RankedTensorType type) {
  return elementTypeOf(type.getElementType())
      .value_or(runtime::ElementType::U8);
}

int64_t emit::bytesOf(RankedTensorType type) {
  return type.getNumElements() *
         static_cast<int64_t>(runtime::sizeOf(elementTypeOf(type)));
}
