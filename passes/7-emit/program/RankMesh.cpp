//===- RankMesh.cpp - translation of shardings to runtime layouts ---------===//

#include "passes/7-emit/program/RankMesh.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;

RankMesh::RankMesh(dist::Mesh given, int64_t numPositions,
                   int64_t numMicrobatches)
    : mesh(std::move(given)) {
  axisNames.push_back("pp");
  ranks.sizes.push_back(numPositions);
  for (const dist::Axis &axis : mesh.spatial().axes) {
    axisNames.push_back(axis.name);
    ranks.sizes.push_back(axis.size);
  }
  ranks.sizes.push_back(numMicrobatches);
}

runtime::AxisPart RankMesh::partOf(const dist::SubAxis &axis) const {
  int32_t index = ranks.microbatchAxis();
  for (size_t i = 1; i < axisNames.size(); ++i)
    if (axisNames[i] == axis.axis)
      index = static_cast<int32_t>(i);
  return {index, static_cast<int32_t>(axis.pre),
          static_cast<int32_t>(axis.size)};
}

runtime::GroupSpec RankMesh::groupOf(const dist::SubAxes &axes) const {
  runtime::GroupSpec group;
  for (const dist::SubAxis &axis : axes)
    group.parts.push_back(partOf(axis));
  return group;
}

/// A dim that is not split has no factors in `sharding`. In the layout it keeps
/// the one factor that wholeLayout() gives it.
runtime::Layout RankMesh::layoutOf(const dist::Sharding &sharding,
                                   ArrayRef<int64_t> shape) const {
  runtime::Layout layout = runtime::wholeLayout(
      dist::viewedShape(sharding, dist::Shape(shape.begin(), shape.end())));
  for (auto [dim, factors] : llvm::zip(layout.dims, sharding.dims)) {
    if (factors.factors.empty())
      continue;
    dim.clear();
    for (const dist::Factor &factor : factors.factors) {
      runtime::Factor &made = dim.emplace_back(runtime::Factor{factor.size});
      for (const dist::SubAxis &axis : factor.axes)
        made.parts.push_back(partOf(axis));
    }
  }
  return layout;
}

/// A dim without a window gets a view without blocks, which stands for the dim
/// itself.
std::vector<runtime::View> emit::viewsOf(const dist::Sharding &sharding) {
  std::vector<runtime::View> views;
  if (!dist::hasView(sharding))
    return views;
  for (const dist::DimSharding &dim : sharding.dims) {
    runtime::View &made = views.emplace_back();
    if (!dim.view)
      continue;
    made = {dim.view->blocks, dim.view->length, dim.view->pitch,
            dim.view->limit};
    for (const dist::ViewPiece &piece : dim.view->pieces)
      made.pieces.push_back({piece.lo, piece.hi, piece.source, piece.step});
  }
  return views;
}

/// Returns the runtime's type for an integer type; std::nullopt if the runtime
/// has none of that width. A signless type becomes a signed one, and i1 becomes
/// Bool.
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
