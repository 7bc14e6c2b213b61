//===- CollectiveScratch.cpp - scratch that a collective needs ------------===//

#include "runtime/program/CollectivePlan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace pcc::runtime {

/// Adds the axes of some sub-axes to the set `indices`. A sub-axis is a factor
/// of a mesh axis. For each sub-axis in `axes`, adds the index in `mesh` of the
/// axis to which the sub-axis belongs. Adds -1 if `mesh` has no such axis.
///
/// For example, `mesh` has the axes dp and tp, and `axes` has one factor of tp.
/// The index of tp is 1, so 1 is added.
static void addAxes(const SubAxes &axes, const Mesh &mesh,
                    std::set<int> &indices) {
  for (const SubAxis &axis : axes)
    indices.insert(mesh.indexOf(axis.axis));
}

/// Returns whether `layout` divides its tensor evenly over the microbatches. A
/// layout reshapes each dim to factors, and may split a factor over axes of the
/// mesh. One of these axes is the time axis: the coordinate along this axis is
/// the number of the microbatch. Returns false if some factor is split over the
/// time axis, and its parts differ in size.
///
/// For example, the layout splits a dim over 2 microbatches. A dim of 8
/// elements gives 4 and 4: the result is true. A dim of 7 elements gives 4 and
/// 3: the result is false.
static bool isEvenInTime(const Layout &layout) {
  for (const DimSharding &dim : layout.dims)
    for (const Factor &factor : dim.factors)
      if (holdsAxis(factor.axes, dist::timeAxis) &&
          factor.size % factor.numParts() != 0)
        return false;
  return true;
}

/// Calls `visit` with the mesh coordinates of one rank after another. Visits
/// all combinations of coordinates along the axes that affect the sizes of a
/// rank's messages: the axes of the group, and the axes that divide the operand
/// or the result. All other coordinates are 0. For example, if a collective in
/// the mesh {dp=2, tp=4} uses only tp, visits {0, 0}, {0, 1}, {0, 2} and {0,
/// 3}. Leaves out the microbatch axis "mb" if all microbatches have the same
/// size.
template <typename Visit>
static void forEveryPlace(const CollectiveSpec &spec, const Mesh &mesh,
                          Visit &&visit) {
  std::set<int> axes;
  addAxes(spec.group, mesh, axes);
  addAxes(splitAxes(spec.from), mesh, axes);
  addAxes(splitAxes(spec.to), mesh, axes);
  if (isEvenInTime(spec.from) && isEvenInTime(spec.to))
    axes.erase(mesh.indexOf(dist::timeAxis));
  axes.erase(-1); // Axes that the mesh does not have.
  Coordinates at(mesh.axes.size(), 0);
  while (true) {
    visit(at);
    auto axis = axes.begin();
    while (axis != axes.end() && ++at[*axis] == mesh.axes[*axis].size)
      at[*axis++] = 0;
    if (axis == axes.end())
      return;
  }
}

/// Returns whether some mesh axis has a sub-axis in `group` and a sub-axis in
/// `axes`. These two sub-axes may differ.
static bool usesAxisOf(const SubAxes &group, const SubAxes &axes) {
  return std::any_of(group.begin(), group.end(), [&](const SubAxis &axis) {
    return dist::holdsAxis(axes, axis.axis);
  });
}

/// Returns whether a sub-axis of a mesh axis of `group` divides `dim`.
static bool isDividedBy(const SubAxes &group, const DimSharding &dim) {
  return std::any_of(
      dim.factors.begin(), dim.factors.end(),
      [&](const Factor &factor) { return usesAxisOf(group, factor.axes); });
}

/// Returns whether the sharding `fine` divides each shard of the sharding
/// `coarse` into equal shards. Both are shardings of one dim. For example,
/// [8@dp:2, tp:2] divides each shard of [8@dp:2] into two equal shards. If
/// `coarse` does not split the dim, any even `fine` fits.
static bool isEvenPartOf(const DimSharding &fine, const DimSharding &coarse) {
  const auto isEven = [](const Factor &factor) {
    return factor.size % factor.numParts() == 0;
  };
  if (!std::all_of(fine.factors.begin(), fine.factors.end(), isEven))
    return false;
  if (coarse.isWhole())
    return true;
  return std::equal(fine.factors.begin(), fine.factors.end(),
                    coarse.factors.begin(), coarse.factors.end(),
                    [](const Factor &own, const Factor &other) {
                      return own.size == other.size &&
                             own.axes.size() >= other.axes.size() &&
                             std::equal(other.axes.begin(), other.axes.end(),
                                        own.axes.begin());
                    });
}

/// Returns whether every member of the group holds its own shard of the operand
/// and gets a whole shard of the result, without a view.
static bool ownsShards(const CollectiveSpec &spec) {
  const SubAxes from = splitAxes(spec.from);
  return !hasView(spec.to) &&
         std::all_of(
             spec.group.begin(), spec.group.end(), [&](const SubAxis &axis) {
               return std::find(from.begin(), from.end(), axis) != from.end();
             });
}

/// Returns whether all members of the group provably need equal scratch. This
/// is so if the group divides some dims of the operand and other dims of the
/// result, all of them evenly, as in an all-to-all from [8@tp, 4] to [8, 4@tp].
/// Each member then exchanges blocks of one shape with all other members.
static bool isUniform(const CollectiveSpec &spec) {
  if (!ownsShards(spec))
    return false;
  for (size_t i = 0; i < spec.from.dims.size(); ++i) {
    const DimSharding &before = spec.from.dims[i], &after = spec.to.dims[i];
    const bool divides = isDividedBy(spec.group, before),
               isDivided = isDividedBy(spec.group, after);
    if ((divides && (isDivided || !isEvenPartOf(before, after))) ||
        (isDivided && !isEvenPartOf(after, before)))
      return false;
  }
  return true;
}

/// Returns whether the group divides some dims of the operand, which the result
/// has whole, and other dims of the result, which the operand has whole. The
/// shards may be uneven, as in an all-to-all from [7@tp, 5] to [7, 5@tp].
static bool isTransposing(const CollectiveSpec &spec) {
  const auto isMoved = [&](const DimSharding &before,
                           const DimSharding &after) {
    if (isDividedBy(spec.group, before))
      return after.isWhole();
    return isDividedBy(spec.group, after) ? before.isWhole() : before == after;
  };
  return ownsShards(spec) &&
         std::equal(spec.from.dims.begin(), spec.from.dims.end(),
                    spec.to.dims.begin(), spec.to.dims.end(), isMoved);
}

/// Returns the lengths of all segments that the rank at `at` has of the operand
/// and of the result, dim by dim.
static std::vector<int64_t> shapeOfShards(const CollectiveSpec &spec,
                                          const Mesh &mesh,
                                          const Coordinates &at) {
  std::vector<int64_t> lengths;
  for (const Layout *layout : {&spec.from, &spec.to})
    for (const auto &segments : localPart(*layout, mesh, at).dims) {
      lengths.push_back(int64_t(segments.size()));
      for (const Segment &segment : segments)
        lengths.push_back(segment.length);
    }
  return lengths;
}

/// Returns one member for each set of members with shards of equal shape. In a
/// transposing collective, these need equal scratch: they exchange blocks of
/// equal shapes with the other members. There are few such sets, because only
/// the last shards of a dim are shorter than the others.
static std::vector<int> distinctMembers(const CollectiveSpec &spec,
                                        const Mesh &mesh,
                                        const CollectiveGroup &group) {
  std::set<std::vector<int64_t>> known;
  std::vector<int> members;
  const bool isIrregular = !isTransposing(spec);
  for (int member = 0; member < int(group.members.size()); ++member)
    if (isIrregular ||
        known.insert(shapeOfShards(spec, mesh, group.members[size_t(member)]))
            .second)
      members.push_back(member);
  return members;
}

/// Returns the most scratch (temporary memory) that a member needs for a
/// ReduceScatter whose operand the group does not divide. `at` contains the
/// coordinates of the first member. All members send messages of equal size. A
/// member has two uses for scratch. It first packs each message that is not
/// contiguous in its operand, except the message to itself. It then receives
/// one term of its result shard from every member, itself included.
static int64_t scratchOfReduceScatter(const CollectiveSpec &spec,
                                      const Mesh &mesh, const Coordinates &at) {
  const std::vector<Coordinates> members = membersOf(spec.group, mesh, at);
  int64_t packed = 0, most = 0;
  for (const Coordinates &member : members) {
    const auto copies = intersect({&spec.from, &at}, {&spec.to, &member}, mesh);
    const int64_t elements = countElements(copies),
                  own = isContiguousSource(copies) ? 0 : elements;
    packed += own;
    most = std::max(most, int64_t(members.size()) * elements - own);
  }
  return packed + most;
}

/// Returns the most scratch that a member needs for an AllGather whose result
/// the group does not divide. `at` contains the coordinates of the first
/// member. If all members hold different shards, each member receives all other
/// shards. Otherwise, several members hold the same shard (its holders). The
/// members that need the shard are divided evenly between its holders, and get
/// messages of equal size. The first holder has at least as many of these
/// members as any other holder, and thus needs the most scratch.
static int64_t scratchOfAllGather(const CollectiveSpec &spec, const Mesh &mesh,
                                  const Coordinates &at) {
  const CollectiveGroup group(spec, mesh, at);
  if (!group.ranges)
    return planCollective(spec, mesh, group, 0).scratchElements;
  std::map<size_t, int64_t> shardsByHolders;
  for (const auto &[number, shard] : group.shards)
    ++shardsByHolders[shard.holders.size()];
  int64_t received = 0, most = std::numeric_limits<int64_t>::min();
  for (const auto &[number, shard] : group.shards) {
    const auto copies =
        intersect({&spec.from, &group.members[size_t(shard.holders[0])]},
                  {&spec.to, &at}, mesh);
    const int64_t elements = countElements(copies);
    const int64_t packed = isContiguousSource(copies) ? 0 : elements,
                  unpacked = isContiguousTarget(copies) ? 0 : elements;
    int64_t receivers = -1; // The holder does not send to itself.
    for (const auto &[holders, count] : shardsByHolders)
      receivers += count * int64_t((holders + shard.holders.size() - 1) /
                                   shard.holders.size());
    received += unpacked;
    most = std::max(most, receivers * packed - unpacked);
  }
  return received + most;
}

/// Returns the scratch of the member that needs the most, for the group whose
/// first member has the coordinates `at`. The scratch of a ReduceScatter or an
/// AllGather usually follows from a formula. If all members need equal scratch,
/// the function plans the messages of one member, and for an uneven all-to-all
/// those of a few members. Otherwise, it plans the messages of every member.
static int64_t scratchOfGroup(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at) {
  if (spec.kind == dist::CollectiveKind::ReduceScatter &&
      !usesAxisOf(spec.group, splitAxes(spec.from)))
    return scratchOfReduceScatter(spec, mesh, at);
  if (spec.kind == dist::CollectiveKind::AllGather &&
      !usesAxisOf(spec.group, splitAxes(spec.to)))
    return scratchOfAllGather(spec, mesh, at);
  if (isUniform(spec))
    return planCollective(spec, mesh, at).scratchElements;
  const CollectiveGroup group(spec, mesh, at);
  int64_t most = 0;
  for (const int member : distinctMembers(spec, mesh, group))
    most = std::max(most,
                    planCollective(spec, mesh, group, member).scratchElements);
  return most;
}

int64_t collectiveScratchElements(const CollectiveSpec &spec,
                                  const Mesh &mesh) {
  if (spec.kind == dist::CollectiveKind::AllReduce ||
      spec.kind == dist::CollectiveKind::Broadcast ||
      spec.kind == dist::CollectiveKind::Slice)
    return 0;
  int64_t most = 0;
  forEveryPlace(spec, mesh, [&](const Coordinates &at) {
    if (coordinateOf(spec.group, mesh, at) == 0)
      most = std::max(most, scratchOfGroup(spec, mesh, at));
  });
  return most;
}

} // namespace pcc::runtime
