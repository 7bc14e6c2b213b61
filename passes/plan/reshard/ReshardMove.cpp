//===- ReshardMove.cpp - movements of shards as index sets per dim --------===//
#include "passes/plan/reshard/ReshardMove.h"

#include <algorithm>
#include <cassert>

using namespace pcc::dist;

namespace pcc::plan {

/// Divides the mesh axis `name` into digits, and appends them to `digits`.
/// Digits are the largest sub-axes (parts of a mesh axis) of which each
/// sub-axis of `name` in `axes` is a list. A part of size n that comes after a
/// more major part of size p is written x:(p)n. Example for an axis x of size
/// 8: the sub-axes x:(1)4 and x:(1)2 have the digits x:(1)2 and x:(2)2.
///
/// Returns false if two sub-axes do not fit together, such as halves and thirds
/// of an axis of size 6.
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
    // the same parts, and `to` reads it without a view. A view is a windowed
    // read: a rank reads other elements than its part, such as the neighboring
    // rows that a convolution needs. With a view, elements can move even if the
    // parts are equal.
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

/// Converts `position`, the index of a part of `dim`, into one index per
/// factor. The size of a dim is the product of its factors, and mesh axes split
/// each factor separately. For example, let a dim of 24 elements have the
/// factors 4 and 6. Axes split the factor 4 into 2 parts and the factor 6 into
/// 3 parts, so the dim has 6 parts. Part 5 of the dim is part 1 of the factor 4
/// and part 2 of the factor 6, because 5 = 1 * 3 + 2. The result is {1, 2}.
static std::vector<int64_t> factorPositions(const DimSharding &dim,
                                            int64_t position) {
  assert(position >= 0 && position < dim.numParts() && "no such part");
  std::vector<int64_t> positions(dim.factors.size());
  for (size_t i = positions.size(); i-- > 0;
       position /= dim.factors[i].numParts())
    positions[i] = position % dim.factors[i].numParts();
  return positions;
}

/// Describes how a sharding splits the dim `dim` of `size` elements into parts,
/// which are numbered from 0. In the result, `digits` lists the sub-axes that
/// split the dim, major first, as indices into Movement::digits. strideOf[i] is
/// the difference between the part numbers of two neighboring ranks along
/// sub-axis i, or 0 if sub-axis i does not split the dim. runs[p] has the
/// element ranges of part p. Example: x has size 2, y has size 3, and a dim of
/// 12 elements is split over x and then over y. With the sub-axes {x, y},
/// `digits` is {0, 1}, `strideOf` is {3, 1}, and runs[4] has the elements 8 and
/// 9.
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

/// Replaces the parts in `dim` by sets of indices of `view`, a windowed read of
/// a dim. Each index of the view reads one element of the dim, or padding (-):
///
///   index of the view:       0 1 2 3   4 5 6 7
///   element that it reads:   - 0 1 2   1 2 3 -
///
/// A part in `dim.from` is a set of elements. It becomes the set of indices
/// that read them: {0, 1} becomes {1, 2, 4}. A part in `dim.to` is a set of
/// indices. It loses the indices that read padding.
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
  // The source sharding splits the dim into parts. The target sharding also
  // splits the dim into parts. The function returns the number of indices that
  // part `from` of the source sharding and part `to` of the target sharding
  // share.
  //
  // The table `dim.overlaps` has one entry for each pair of a source part and a
  // target part. The entry stores the number of shared indices, so that the
  // function counts them only once. An entry has 8 bytes. There is no table if
  // there are more than 2^20 pairs. The table would then need more than 8 MiB,
  // and might not fit into the processor cache. Without a table, the function
  // counts the shared indices in every call.
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

/// Returns the number of elements that one rank needs under `to` and does not
/// hold under `from`, as if each unchanged dim had the size 1. digit[i] is the
/// coordinate of the rank along the sub-axis Movement::digits[i]. A dim is
/// unchanged if both shardings split it equally and `to` reads it without a
/// view (window with halos). Example with two changed dims: the rank needs 4
/// indices of dim 0 and holds 3 of them. It needs 6 indices of dim 1 and holds
/// 5 of them. The result is 4 * 6 - 3 * 5 = 9 elements.
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

/// Returns the largest number of elements that a rank needs under `to` and does
/// not hold under `from`. In every plan, this rank receives at least this
/// number of elements. A dim is unchanged if both shardings split it equally
/// and `to` reads it without a view (window with halos). The result is the
/// largest value of missingAt, times the size of the largest part of each
/// unchanged dim. Example: each rank lacks at most 2 rows, and the columns are
/// unchanged. The largest part of the columns has 3 columns. The result is
/// 2 * 3 = 6 elements.
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

/// Returns whether some index of `dim` moves along the sub-axis digits[digit].
/// A sub-axis is a mesh axis or a part of a mesh axis. The sub-axis must split
/// `dim` under `from` and under `to`. Under each of the two shardings, an index
/// of the dim belongs to one coordinate along the sub-axis. The index moves if
/// it belongs to different coordinates under `from` and under `to`.
///
/// Example: the mesh axes x and y have size 2. A dim has 4 elements. `from`
/// splits the dim over x and then over y. `to` splits the dim over y and then
/// over x. Element 1 belongs to x = 0 and y = 1 under `from`, and to x = 1 and
/// y = 0 under `to`. The result is true for x and for y.
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

/// Returns one flag for each coordinate along the sub-axis digits[digit]. A
/// sub-axis is a mesh axis or a part of a mesh axis. `side` describes the parts
/// into which a sharding splits a dim. The sub-axis must be one of the sub-axes
/// that split the dim. Each part then belongs to one coordinate along the
/// sub-axis. The flag of a coordinate is true if at least one part of the
/// coordinate is not empty.
///
/// Example: a dim has 3 elements and is split over a sub-axis of size 4. The
/// parts have 1, 1, 1 and 0 elements. The result is {true, true, true, false}.
std::vector<bool> Movement::valuesOf(const DimSide &side, int digit) const {
  std::vector<bool> values(digits[digit].size);
  for (size_t p = 0; p < side.runs.size(); ++p)
    if (!side.runs[p].empty())
      values[static_cast<int64_t>(p) / side.strideOf[digit] %
             digits[digit].size] = true;
  return values;
}

/// Returns whether some rank needs elements from a rank with another coordinate
/// along the sub-axis digits[digit]. A sub-axis is a part of a mesh axis. It
/// splits at most one dim under each of `from` and `to`:
///
///   under `from`   under `to`    result
///   no dim         any           false
///   a dim          no dim        true
///   a dim          this dim      true if some index changes its coordinate
///   a dim          another dim   false only if one coordinate has all elements
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

/// Returns whether one all-gather changes the tensor from `from` to `to`.
/// inGroup[i] is true if ranks exchange elements along the sub-axis digits[i].
/// Each sub-axis must split a dim under `from`. It must split a dim under `to`
/// if its flag is false, and no dim if its flag is true. With the flag false,
/// no element moves along the sub-axis, so the two dims need not be compared.
/// Example: `from` splits dim 0 over x and dim 1 over y, and `to` splits only
/// dim 1, over y. One all-gather over x is enough.
bool Movement::isGather(const std::vector<bool> &inGroup) const {
  for (size_t i = 0; i < digits.size(); ++i)
    if ((toDim[i] >= 0) == inGroup[i] || fromDim[i] < 0)
      return false;
  return true;
}

/// Returns whether one all-to-all changes the tensor from `from` to `to`.
/// inGroup[i] is true if ranks exchange elements along the sub-axis digits[i].
/// The result is true if these three conditions are true:
///  - Each sub-axis with the flag true splits one dim under `from` and another
///    dim under `to`: it leaves the first dim and joins the second dim.
///  - Each sub-axis with the flag false splits one dim, the same under both.
///  - There is no dim that one sub-axis leaves and another sub-axis joins.
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

/// Returns whether a permutation of shards between ranks can change the tensor
/// from the sharding `from` to the sharding `to`. In a permutation, each rank
/// receives the whole shard of one rank. The result is true if `from` and `to`
/// split each dim into the same parts. The axes that split a dim may differ.
///
/// Example: the mesh axes x and y have size 2. A tensor has one dim of 4
/// elements. `from` splits the dim over x, and `to` splits the dim over y.
/// Under both shardings, one part has the elements 0 and 1, and the other part
/// has the elements 2 and 3. The result is true.
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

/// Returns whether ranks only have to pass on whole parts of one dim. Exactly
/// one dim must be changed: split differently, or read by `to` through a view
/// (a windowed read, such as a circular shift). Equal mesh axes must split this
/// dim under `from` and `to`. Each part under `to` must be empty or equal to a
/// part under `from`, and no two parts under `to` to the same one. Example:
/// `from` has the parts {0, 1, 2, 3} and {4, 5, 6, 7}. The result is true for a
/// circular shift by 4 elements. It is false for a shift by 2, with the parts
/// {2, 3, 4, 5} and {6, 7, 0, 1}.
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
  // The groups of a permutation also need each sub-axis that splits a dim only
  // under `to`. Example: `from` splits a dim over x, and `to` over y:
  //
  //     rank (x, y)    (0, 0)    (0, 1)    (1, 0)    (1, 1)
  //     holds          part 0    part 0    part 1    part 1
  //     needs          part 0    part 1    part 0    part 1
  //
  // `group` has only x. Along x, ranks (0, 0) and (1, 0) would be one group.
  // Both need part 0, but only one of them holds it.
  if (kind == CollectiveKind::Permute)
    for (size_t i = 0; i < digits.size(); ++i)
      if (fromDim[i] < 0)
        axes.push_back(digits[i]);
  return axes;
}

} // namespace pcc::plan
