//===- ShardingCheck.cpp - checks of a sharding against mesh and shape ----===//
#include "sharding/Sharding.h"
#include "sharding/ShardingText.h"
#include "status/Counted.h"

namespace pcc::dist {

namespace {
/// A sub-axis and, for messages, the part of the sharding that uses it: "dim
/// 1", "the partial list".
struct AxisUse {
  SubAxis axis;
  std::string where;
};
} // namespace

/// The text of an error, or nullopt if there is none.
using Error = std::optional<std::string>;

/// Returns the axes of `mesh` for messages: "dp=2, tp=4".
static std::string meshText(const Mesh &mesh) {
  std::string text;
  for (const Axis &axis : mesh.axes)
    text += (text.empty() ? "" : ", ") + axis.name + "=" +
            std::to_string(axis.size);
  return text.empty() ? "no axes" : text;
}

/// Checks that the mesh has the axis and that the sub-axis divides it.
static Error checkAxis(const AxisUse &use, const Mesh &mesh) {
  int64_t size = mesh.sizeOf(use.axis.axis);
  if (size == 0 && use.axis.axis == pipelineAxis)
    return use.where + " uses axis '" + use.axis.axis +
           "', which divides stages and no tensors; tensors have " +
           meshText(mesh);
  if (size == 0)
    return use.where + " uses axis '" + use.axis.axis +
           "', which the mesh does not have; it has " + meshText(mesh);
  bool inRange = use.axis.pre >= 1 && use.axis.pre <= size &&
                 use.axis.size >= 1 && use.axis.size <= size;
  if (!inRange || size % use.axis.end() != 0)
    return use.where + " uses sub-axis " + use.axis.axis + ":(" +
           std::to_string(use.axis.pre) + ")" + std::to_string(use.axis.size) +
           ", which does not divide axis '" + use.axis.axis + "' of size " +
           std::to_string(size);
  return std::nullopt;
}

/// Returns all uses of sub-axes in `sharding`: dim by dim, then partials, then
/// replicated axes.
static std::vector<AxisUse> usesOf(const Sharding &sharding) {
  std::vector<AxisUse> uses;
  for (size_t i = 0; i < sharding.rank(); ++i)
    for (const SubAxis &axis : sharding.dims[i].axes())
      uses.push_back({axis, "dim " + std::to_string(i)});
  for (const Partial &partial : sharding.partials)
    uses.push_back({partial.axis, "the partial list"});
  for (const SubAxis &axis : sharding.replicated)
    uses.push_back({axis, "the replicated list"});
  return uses;
}

/// Checks that each sub-axis is valid. Also checks that two sub-axes of one
/// axis neither overlap nor fail to align (such as halves and thirds of an axis
/// of 6).
static Error checkUses(const std::vector<AxisUse> &uses, const Mesh &mesh) {
  for (size_t i = 0; i < uses.size(); ++i) {
    if (Error error = checkAxis(uses[i], mesh))
      return error;
    for (size_t j = 0; j < i; ++j) {
      if (overlaps(uses[i].axis, uses[j].axis))
        return uses[i].where + " uses axis '" + toString(uses[i].axis, &mesh) +
               "', which " + uses[j].where + " already uses";
      if (!canCoexist(uses[i].axis, uses[j].axis))
        return uses[i].where + " uses sub-axis " +
               toString(uses[i].axis, &mesh) + ", which does not align with " +
               toString(uses[j].axis, &mesh) + " of " + uses[j].where;
    }
  }
  return std::nullopt;
}

/// Checks that the factors of a dim multiply to its size, or to the size of its
/// view, which must fit the dim.
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

/// Checks that all partial axes have one reduction kind, since reductions of
/// different kinds do not commute.
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
    return "sharding has " + counted(sharding.rank(), "dim") +
           ", the tensor has " + std::to_string(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    if (Error error = checkFactors(sharding.dims[i], shape[i],
                                   "dim " + std::to_string(i)))
      return error;
  if (Error error = checkUses(usesOf(sharding), mesh))
    return error;
  return checkKinds(sharding);
}

std::optional<std::string> findAxisError(const Sharding &sharding,
                                         const Mesh &mesh) {
  for (const AxisUse &use : usesOf(sharding))
    if (Error error = checkAxis(use, mesh))
      return error;
  return std::nullopt;
}

} // namespace pcc::dist
