//===- ReshardMove.cpp - movements of shards as index sets per dim --------===//
#include "passes/plan/reshard/ReshardMove.h"

#include <algorithm>
#include <cassert>

using namespace pcc::dist;

namespace pcc::plan {

/// Appends the digits of the mesh axis `name` to `digits`. Digits are the
/// largest parts of the mesh axis of which all its sub-axes in `axes` consist.
/// Example: `axes` contains the whole axis x of size 8, and its major part of
/// size 2. The digits are the major part of size 2 and the minor part of size
/// 4. Returns false if two sub-axes do not fit together, such as halves and
/// thirds of an axis of size 6.
static bool appendDigits(const SubAxes &axes, const std::string &name,
                         SubAxes &digits) {
  std::vector<int64_t> cuts;
  for (const SubAxis &axis : axes)
    if (axis.axis == name)
      cuts.insert(cuts.end(), {axis.pre, axis.end()});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i + 1] % cuts[i] != 0)
      return false;
    SubAxis piece{name, cuts[i], cuts[i + 1] / cuts[i]};
    if (std::any_of(axes.begin(), axes.end(),
                    [&](const SubAxis &axis) { return overlaps(axis, piece); }))
      digits.push_back(piece);
  }
  return true;
}

std::optional<SubAxes> digitsOf(const SubAxes &axes) {
  std::vector<std::string> names;
  for (const SubAxis &axis : axes)
    names.push_back(axis.axis);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  SubAxes digits;
  for (const std::string &name : names)
    if (!appendDigits(axes, name, digits))
      return std::nullopt;
  return digits;
}

std::optional<SubAxes> subtract(const SubAxes &a, const SubAxes &b) {
  SubAxes all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::optional<SubAxes> digits = digitsOf(all);
  if (!digits)
    return std::nullopt;
  auto in = [](const SubAxes &axes, const SubAxis &digit) {
    return std::any_of(axes.begin(), axes.end(), [&](const SubAxis &axis) {
      return overlaps(axis, digit);
    });
  };
  SubAxes rest;
  for (const SubAxis &digit : *digits)
    if (in(a, digit) && !in(b, digit))
      rest.push_back(digit);
  return mergeNeighbours(rest);
}

SubAxes inMeshOrder(SubAxes axes, const Mesh &mesh) {
  std::sort(axes.begin(), axes.end(), [&](const SubAxis &a, const SubAxis &b) {
    return std::pair(mesh.indexOf(a.axis), a.pre) <
           std::pair(mesh.indexOf(b.axis), b.pre);
  });
  return mergeNeighbours(axes);
}

/// Returns the list `a` followed by the list `b`.
static SubAxes joined(SubAxes a, const SubAxes &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Movement::Movement(const Sharding &from, const Sharding &to, const Shape &shape)
    : from(from), to(to) {
  assert(from.dims.size() == shape.size() && to.dims.size() == shape.size() &&
         "another rank");
  std::optional<SubAxes> all = digitsOf(joined(splitAxes(from), splitAxes(to)));
  isAligned = all.has_value();
  if (!isAligned)
    return;
  digits = *all;
  fromDim.assign(digits.size(), -1);
  toDim.assign(digits.size(), -1);
  for (size_t d = 0; d < shape.size(); ++d) {
    MovedDim dim;
    // The dim is unchanged if both shardings split it over the same axes into
    // the same shards, and `to` does not read it in windows (`view`). A rank
    // that reads a window also needs elements beyond its shard, such as the
    // neighboring rows of a convolution. Elements can then move even if the
    // shards are equal.
    dim.changed = from.dims[d].factors != to.dims[d].factors || to.dims[d].view;
    dim.largestPart = localDim(to.dims[d], shape[d]);
    dim.from = makeSide(from.dims[d], shape[d]);
    dim.to = makeSide(to.dims[d], shape[d]);
    if (to.dims[d].view)
      seeThrough(*to.dims[d].view, shape[d], dim);
    for (int digit : dim.from.digits)
      fromDim[digit] = static_cast<int>(d);
    for (int digit : dim.to.digits)
      toDim[digit] = static_cast<int>(d);
    dims.push_back(std::move(dim));
  }
}

/// Converts `position`, the index of a shard of `dim`, into one shard index per
/// factor of the dim. The dim size is the product of the factors, and mesh axes
/// split each factor separately. Example: a dim of 24 has a factor 4 in 2
/// shards and a factor 6 in 3 shards, 6 shards in all. Shard 5 = 1 * 3 + 2 of
/// the dim is shard 1 of the factor 4 and shard 2 of the factor 6: {1, 2}.
static std::vector<int64_t> factorPositions(const DimSharding &dim,
                                            int64_t position) {
  assert(position >= 0 && position < dim.numParts() && "no such part");
  std::vector<int64_t> positions(dim.factors.size());
  for (size_t i = positions.size(); i-- > 0;
       position /= dim.factors[i].numParts())
    positions[i] = position % dim.factors[i].numParts();
  return positions;
}

/// Returns the shards into which the dim `dim` of `size` elements is split, and
/// a stride for each digit (part of a mesh axis). The index of a rank's shard
/// is the sum of coordinate * stride over the digits.
Movement::DimSide Movement::makeSide(const DimSharding &dim,
                                     int64_t size) const {
  DimSide side;
  for (const SubAxis &axis : dim.axes())
    for (size_t i = 0; i < digits.size(); ++i)
      if (contains(axis, digits[i]))
        side.digits.push_back(static_cast<int>(i));
  side.strideOf.assign(digits.size(), 0);
  int64_t stride = 1;
  for (size_t i = side.digits.size(); i-- > 0;
       stride *= digits[side.digits[i]].size)
    side.strideOf[side.digits[i]] = stride;
  for (int64_t position = 0; position < stride; ++position)
    side.runs.push_back(runsAt(dim, size, factorPositions(dim, position)));
  return side;
}

/// Converts the shards in `dim` to sets of window indices. `view` describes a
/// windowed read of the dim, such as a halo exchange: each window index reads
/// one element of the dim, or none. In `dim.from`, a shard is a set of
/// elements, and becomes the set of window indices that read these elements. In
/// `dim.to`, a shard already is a set of window indices, and loses those that
/// read no element.
void Movement::seeThrough(const View &view, int64_t size, MovedDim &dim) {
  Runs covered = view.indicesOf({{0, size}});
  for (Runs &part : dim.to.runs)
    part = intersect(part, covered);
  for (Runs &part : dim.from.runs)
    part = view.indicesOf(part);
}

int64_t Movement::overlapOf(MovedDim &dim, int64_t to, int64_t from) {
  assert(size_t(to) < dim.to.runs.size() &&
         size_t(from) < dim.from.runs.size() && "no such part");
  // `dim.overlaps` caches the number of shared indices for each pair of a
  // source shard and a target shard. A table of more than 8 MiB might not fit
  // into the processor cache.
  constexpr size_t largestTable = size_t{1} << 20;
  size_t parts = dim.from.runs.size(), entries = parts * dim.to.runs.size();
  if (entries > largestTable)
    return countIntersection(dim.to.runs[to], dim.from.runs[from]);
  if (dim.overlaps.empty())
    dim.overlaps.assign(entries, -1);
  int64_t &entry = dim.overlaps[to * parts + from];
  if (entry < 0)
    entry = countIntersection(dim.to.runs[to], dim.from.runs[from]);
  return entry;
}

/// Returns the number of elements that a rank needs under `to` and does not
/// hold under `from`. Counts each unchanged dim as one element. digit[i] is the
/// rank's coordinate along Movement::digits[i], a part of a mesh axis.
int64_t Movement::missingAt(const std::vector<int64_t> &digit) {
  assert(digit.size() == digits.size() && "one value per digit");
  int64_t out = 1, have = 1;
  for (MovedDim &dim : dims) {
    if (!dim.changed)
      continue;
    int64_t to = 0, from = 0;
    for (int i : dim.to.digits)
      to += digit[i] * dim.to.strideOf[i];
    for (int i : dim.from.digits)
      from += digit[i] * dim.from.strideOf[i];
    out *= count(dim.to.runs[to]);
    have *= overlapOf(dim, to, from);
  }
  return out - have;
}

/// Computes missingAt() for each rank, takes the largest result, and multiplies
/// it by the sizes of the largest shards of all unchanged dims. missingAt()
/// counts each unchanged dim as one element.
int64_t Movement::lowerBound() {
  assert(isAligned && "sub-axes do not align");
  int64_t unchanged = 1;
  std::vector<bool> matters(digits.size());
  for (const MovedDim &dim : dims) {
    if (!dim.changed)
      unchanged *= dim.largestPart;
    for (const DimSide *side : {&dim.from, &dim.to})
      for (int i : side->digits)
        matters[i] = matters[i] || dim.changed;
  }
  int64_t worst = 0;
  std::vector<int64_t> digit(digits.size());
  for (;;) {
    worst = std::max(worst, missingAt(digit));
    size_t i = 0;
    for (; i < digits.size(); ++i) {
      if (matters[i] && ++digit[i] < digits[i].size)
        break;
      digit[i] = 0;
    }
    if (i == digits.size())
      return worst * unchanged;
  }
}

/// Returns whether some index of `dim` has different coordinates under `from`
/// and `to` along digits[digit], a part of a mesh axis. This part of a mesh
/// axis must split `dim` under both shardings.
bool Movement::positionsDiffer(MovedDim &dim, int digit) {
  int64_t size = digits[digit].size;
  for (size_t t = 0; t < dim.to.runs.size(); ++t)
    for (size_t f = 0; f < dim.from.runs.size(); ++f)
      if (static_cast<int64_t>(t) / dim.to.strideOf[digit] % size !=
              static_cast<int64_t>(f) / dim.from.strideOf[digit] % size &&
          overlapOf(dim, t, f) > 0)
        return true;
  return false;
}

/// Returns one flag for each coordinate along digits[digit], a part of a mesh
/// axis that splits the dim of `side`. The flag is true if a rank at this
/// coordinate has an index of the dim. Example: 3 indices on 4 ranks give
/// {true, true, true, false}.
std::vector<bool> Movement::valuesOf(const DimSide &side, int digit) const {
  std::vector<bool> values(digits[digit].size);
  for (size_t p = 0; p < side.runs.size(); ++p)
    if (!side.runs[p].empty())
      values[static_cast<int64_t>(p) / side.strideOf[digit] %
             digits[digit].size] = true;
  return values;
}

/// Returns whether some rank needs elements from a rank with another coordinate
/// along digits[digit], a part of a mesh axis.
bool Movement::isCommunicated(int digit) {
  if (fromDim[digit] < 0)
    return false;
  if (toDim[digit] < 0)
    return true;
  MovedDim &source = dims[fromDim[digit]], &target = dims[toDim[digit]];
  if (fromDim[digit] == toDim[digit])
    return source.changed && positionsDiffer(source, digit);
  std::vector<bool> in = valuesOf(source.from, digit),
                    out = valuesOf(target.to, digit);
  for (size_t i = 0; i < in.size(); ++i)
    for (size_t j = 0; j < out.size(); ++j)
      if (i != j && in[i] && out[j])
        return true;
  return false;
}

std::vector<int> Movement::communicated() {
  assert(isAligned && "sub-axes do not align");
  std::vector<int> group;
  for (size_t i = 0; i < digits.size(); ++i)
    if (isCommunicated(static_cast<int>(i)))
      group.push_back(static_cast<int>(i));
  return group;
}

std::vector<bool> Movement::membership(const std::vector<int> &group) const {
  std::vector<bool> in(digits.size());
  for (int digit : group)
    in[digit] = true;
  return in;
}

/// Returns whether one all-gather changes the tensor from `from` to `to`. Each
/// entry digits[i] is a part of a mesh axis. inGroup[i] is true if elements
/// move along it. If so, digits[i] must split a dim under `from`, and no dim
/// under `to`. Otherwise, digits[i] must split a dim under both shardings.
bool Movement::isGather(const std::vector<bool> &inGroup) const {
  // If inGroup[i] is false, no element moves along digits[i]. The dim that
  // digits[i] splits under `from` may then even differ from the dim under `to`.
  // Therefore do not compare fromDim[i] with toDim[i].
  for (size_t i = 0; i < digits.size(); ++i)
    if ((toDim[i] >= 0) == inGroup[i] || fromDim[i] < 0)
      return false;
  return true;
}

/// Returns whether one all-to-all changes the tensor from `from` to `to`. Each
/// entry digits[i] is a part of a mesh axis, and must split a dim under both
/// shardings. inGroup[i] is true if elements move along it. If so, digits[i]
/// must split different dims under `from` and `to`. Otherwise, digits[i] must
/// split the same dim. A dim that one digit stops splitting must not be a dim
/// that another digit starts splitting.
bool Movement::isAllToAll(const std::vector<bool> &inGroup) const {
  std::vector<bool> loses(dims.size()), gains(dims.size());
  for (size_t i = 0; i < digits.size(); ++i) {
    if (fromDim[i] < 0 || toDim[i] < 0 ||
        inGroup[i] == (fromDim[i] == toDim[i]))
      return false;
    if (inGroup[i])
      loses[fromDim[i]] = gains[toDim[i]] = true;
  }
  for (size_t d = 0; d < dims.size(); ++d)
    if (loses[d] && gains[d])
      return false;
  return true;
}

/// Returns whether `from` and `to` split each dim into the same shards, perhaps
/// over different mesh axes. If so, a permutation of whole shards between ranks
/// changes the tensor from `from` to `to`.
bool Movement::isPermute() const {
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::vector<Factor> &a = from.dims[d].factors,
                              &b = to.dims[d].factors;
    if (a.size() != b.size())
      return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i].size != b[i].size || a[i].numParts() != b[i].numParts())
        return false;
  }
  return true;
}

/// Returns whether ranks only have to pass on whole shards of one dim, as in a
/// circular shift. Only this dim may be changed, and equal mesh axes must split
/// it under both shardings. Each shard under `to` must be empty or equal to one
/// shard under `from`. Two shards under `to` must not equal the same shard
/// under `from`.
bool Movement::isRotation() {
  const auto isChanged = [](const MovedDim &dim) { return dim.changed; };
  const auto dim = std::find_if(dims.begin(), dims.end(), isChanged);
  if (std::count_if(dims.begin(), dims.end(), isChanged) != 1 ||
      from.dims[dim - dims.begin()].axes() !=
          to.dims[dim - dims.begin()].axes())
    return false;
  std::vector<bool> taken(dim->from.runs.size());
  for (size_t t = 0; t < dim->to.runs.size(); ++t)
    for (size_t f = 0; f < taken.size(); ++f)
      if (int64_t shared = overlapOf(*dim, t, f); shared > 0) {
        if (taken[f] || shared != count(dim->from.runs[f]) ||
            shared != count(dim->to.runs[t]))
          return false;
        taken[f] = true;
      }
  return true;
}

CollectiveKind Movement::classify(const std::vector<int> &group) {
  assert(isAligned && "sub-axes do not align");
  std::vector<bool> inGroup = membership(group);
  if (group.empty())
    return CollectiveKind::Slice;
  if (hasView(to))
    return isRotation() ? CollectiveKind::Permute : CollectiveKind::Exchange;
  if (isGather(inGroup))
    return CollectiveKind::AllGather;
  if (isAllToAll(inGroup))
    return CollectiveKind::AllToAll;
  return isPermute() ? CollectiveKind::Permute : CollectiveKind::Exchange;
}

SubAxes Movement::groupAxes(CollectiveKind kind,
                            const std::vector<int> &group) const {
  assert(isAligned && "sub-axes do not align");
  SubAxes axes;
  for (int digit : group)
    axes.push_back(digits[digit]);
  // A rank of a Permute receives one whole shard. Digits that split a dim only
  // under `to` must be in the group, too. Otherwise, several ranks of a group
  // could need shards that only one rank of the group holds.
  if (kind == CollectiveKind::Permute)
    for (size_t i = 0; i < digits.size(); ++i)
      if (fromDim[i] < 0)
        axes.push_back(digits[i]);
  return axes;
}

} // namespace pcc::plan
