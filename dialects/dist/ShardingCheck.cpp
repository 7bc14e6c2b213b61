//===- ShardingCheck.cpp - Does a sharding fit a mesh and a shape? --------===//
#include "dialects/dist/Sharding.h"
#include "dialects/dist/ShardingText.h"

namespace pcc::dist {

namespace {
/// An axis with the words that say where it is used: "dim 1", "partial".
struct AxisUse {
  SubAxis axis;
  std::string where;
};
} // namespace

using Error = std::optional<std::string>;

static std::string meshText(const Mesh &mesh) {
  std::string text;
  for (const Axis &axis : mesh.axes)
    text += (text.empty() ? "" : ", ") + axis.name + "=" +
            std::to_string(axis.size);
  return text.empty() ? "no axes" : text;
}

static Error checkAxis(const AxisUse &use, const Mesh &mesh) {
  int64_t size = mesh.sizeOf(use.axis.axis);
  if (size == 0)
    return use.where + " uses axis \"" + use.axis.axis +
           "\", which the mesh does not have; it has " + meshText(mesh);
  bool inRange = use.axis.pre >= 1 && use.axis.pre <= size &&
                 use.axis.size >= 1 && use.axis.size <= size;
  if (!inRange || size % use.axis.end() != 0)
    return use.where + " uses sub-axis " + use.axis.axis + ":(" +
           std::to_string(use.axis.pre) + ")" + std::to_string(use.axis.size) +
           ", which does not divide axis \"" + use.axis.axis + "\" of size " +
           std::to_string(size);
  return std::nullopt;
}

/// Each axis is valid and no two overlap.
static Error checkUses(const std::vector<AxisUse> &uses, const Mesh &mesh) {
  for (size_t i = 0; i < uses.size(); ++i) {
    if (Error error = checkAxis(uses[i], mesh))
      return error;
    for (size_t j = 0; j < i; ++j) {
      if (overlaps(uses[i].axis, uses[j].axis))
        return uses[i].where + " uses axis \"" + toString(uses[i].axis, &mesh) +
               "\", which " + uses[j].where + " already uses";
      if (!canCoexist(uses[i].axis, uses[j].axis))
        return uses[i].where + " uses sub-axis " +
               toString(uses[i].axis, &mesh) + ", which does not align with " +
               toString(uses[j].axis, &mesh) + " of " + uses[j].where;
    }
  }
  return std::nullopt;
}

static Error checkFactors(const DimSharding &dim, int64_t size,
                          const std::string &where) {
  int64_t product = 1;
  if (dim.view) {
    if (Error error = findError(*dim.view, size))
      return where + " has " + *error;
    size = dim.view->size();
  }
  for (const Factor &factor : dim.factors) {
    if (factor.size < 0 ||
        __builtin_mul_overflow(product, factor.size, &product))
      return where + " has a factor of size " + std::to_string(factor.size);
  }
  if (!dim.factors.empty() && product != size)
    return where + " has factors that multiply to " + std::to_string(product) +
           ", got size " + std::to_string(size);
  return std::nullopt;
}

static Error checkKinds(const Sharding &sharding) {
  for (const Partial &partial : sharding.partials)
    if (partial.kind != sharding.partials.front().kind)
      return std::string("partial over axes of different kinds, got ") +
             toString(sharding.partials.front().kind) + " and " +
             toString(partial.kind);
  return std::nullopt;
}

std::optional<std::string> findError(const Sharding &sharding, const Mesh &mesh,
                                     const Shape &shape) {
  if (sharding.rank() != shape.size())
    return "sharding has " + std::to_string(sharding.rank()) +
           " dims, the tensor has " + std::to_string(shape.size());
  std::vector<AxisUse> uses;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::string where = "dim " + std::to_string(i);
    if (Error error = checkFactors(sharding.dims[i], shape[i], where))
      return error;
    for (const SubAxis &axis : sharding.dims[i].axes())
      uses.push_back({axis, where});
  }
  for (const Partial &partial : sharding.partials)
    uses.push_back({partial.axis, "the partial list"});
  for (const SubAxis &axis : sharding.replicated)
    uses.push_back({axis, "the replicated list"});
  if (Error error = checkUses(uses, mesh))
    return error;
  return checkKinds(sharding);
}

} // namespace pcc::dist
