//===- CollectivePlan.cpp - copies and messages of one rank's collective --===//

#include "runtime/program/CollectivePlan.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace pcc::runtime {

/// Changes one coordinate of a rank. `at` contains the coordinates of the rank
/// in `mesh`. `axis` is a sub-axis: a factor of a mesh axis. The function sets
/// the coordinate of the rank along the sub-axis to `digit`. The coordinates
/// along all other factors and axes stay unchanged.
///
/// For example, a mesh axis of size 8 is reshaped to [2, 4], and `axis` is the
/// factor 4. A rank has coordinate 5 on the mesh axis. Its coordinates along
/// the two factors are 1 and 1, because 5 = 1 * 4 + 1. If `digit` is 3, the new
/// coordinates along the two factors are 1 and 3. The new coordinate on the
/// mesh axis is 1 * 4 + 3 = 7.
static void setDigit(Coordinates &at, const SubAxis &axis, const Mesh &mesh,
                     int64_t digit) {
  assert(digit >= 0 && digit < axis.size && "no such coordinate");
  const int index = mesh.indexOf(axis.axis);
  const int64_t below = mesh.axes[index].size / axis.end();
  at[index] += (digit - coordinateOf(axis, mesh, at)) * below;
}

std::vector<Coordinates> membersOf(const SubAxes &group, const Mesh &mesh,
                                   const Coordinates &at) {
  std::vector<Coordinates> members;
  const int64_t size = numParts(group);
  for (int64_t member = 0; member < size; ++member) {
    Coordinates &coordinates = members.emplace_back(at);
    int64_t rest = member;
    for (auto axis = group.rbegin(); axis != group.rend(); ++axis) {
      setDigit(coordinates, *axis, mesh, rest % axis->size);
      rest /= axis->size;
    }
  }
  return members;
}

int64_t countElements(const std::vector<StridedCopy> &copies) {
  int64_t count = 0;
  for (const StridedCopy &copy : copies)
    count += numElements(copy);
  return count;
}

bool isContiguousSource(const std::vector<StridedCopy> &copies) {
  return copies.size() == 1 && isDenseSource(copies[0]);
}

bool isContiguousTarget(const std::vector<StridedCopy> &copies) {
  return copies.size() == 1 && isDenseTarget(copies[0]);
}

CollectiveGroup::CollectiveGroup(const CollectiveSpec &spec, const Mesh &mesh,
                                 const Coordinates &at)
    : members(membersOf(spec.group, mesh, at)) {
  for (const Coordinates &member : members) {
    pieces.push_back(pieceNumber(spec.from, mesh, member));
    auto [shard, isNew] = shards.try_emplace(pieces.back());
    if (isNew) {
      const LocatedLayout own{&spec.from, &member};
      shard->second.isEmpty = countElements(intersect(own, own, mesh)) == 0;
    }
    places.push_back(shard->second.holders.size());
    shard->second.holders.push_back(int(places.size()) - 1);
  }
  const bool isGather = spec.kind == dist::CollectiveKind::AllGather;
  if (isGather ? shards.size() < members.size()
               : spec.kind != dist::CollectiveKind::Slice &&
                     spec.kind != dist::CollectiveKind::ReduceScatter)
    ranges.emplace(spec.from, spec.to, mesh, members);
}

namespace {
/// The two ends of a copy.
enum class Side { Source, Target };

/// Builder of the plan of one rank for a collective. The plan lists the copies
/// and the messages that the rank executes. The constructor receives the
/// collective `spec`, the rank's group, and its index `me` in the group.
///
/// Each other public function plans one kind of collective. Only one of these
/// functions may be called for each Planner object, and only once.
class Planner {
public:
  Planner(const CollectiveSpec &spec, const Mesh &mesh,
          const CollectiveGroup &group, int me)
      : spec(spec), mesh(mesh), group(group), me(me) {}

  /// Plans a Slice. In a Slice, every rank copies a part of its operand to its
  /// result. No rank sends a message. For example, the operand of a rank has 8
  /// elements, and the result is a copy of elements 4 to 7.
  CollectivePlan slice() {
    plan.local = between(me, me);
    findHoles();
    return std::move(plan);
  }

  /// Plans an AllGather. There are two cases:
  ///
  /// - All members of the group hold different shards. Every member then sends
  ///   its whole operand `in` to all members.
  /// - At least two members hold the same shard. The plan is then that of
  ///   redistribute(): every member receives each shard that it lacks from only
  ///   one member.
  CollectivePlan gather() {
    if (group.ranges)
      return redistribute();
    const int64_t size = numElements(localShape(spec.from));
    plan.gathers = plan.gathersDirectly = true;
    for (int member = 0; member < numMembers(); ++member) {
      plan.unpack.push_back(between(member, me));
      const std::vector<StridedCopy> &copies = plan.unpack.back();
      plan.gathersDirectly &=
          copies.size() == 1 && numElements(copies[0]) == size &&
          copies[0].sourceOffset == 0 &&
          copies[0].targetOffset == member * size && isDenseSource(copies[0]) &&
          isDenseTarget(copies[0]);
    }
    plan.scratchElements = plan.gathersDirectly ? 0 : size * numMembers();
    return std::move(plan);
  }

  /// Plans a ReduceScatter: the group reduces the operands of all members to
  /// one tensor, and each member gets one shard of the tensor. This rank sends
  /// the elements of the other shards, and receives its own shard in scratch
  /// (temporary memory). `plan.receives` has a message for this rank too,
  /// because `plan.local` copies the rank's own elements to scratch.
  ///
  /// For example, member 0 has {1, 2, 3, 4}, and member 1 has {10, 20, 30, 40}.
  /// Member 0 sends {3, 4}, receives {10, 20}, and copies {1, 2}.
  CollectivePlan reduceScatter() {
    for (int member = 0; member < numMembers(); ++member) {
      if (member != me)
        addSend(member, between(me, member));
      addReceive(member, between(member, me), /*alwaysPacked=*/true);
    }
    plan.local = between(me, me);
    return std::move(plan);
  }

  /// Plans a collective that divides a tensor over the ranks in a new way. For
  /// example, every rank has some rows of a matrix, and needs some columns of
  /// this matrix. The plan of this rank has three lists:
  ///
  /// - Copies of the elements that this rank both has and needs. The copies
  ///   read the operand of this rank and write its result.
  /// - Messages that this rank receives. The messages contain the elements that
  ///   this rank needs but does not have. If several members of the group have
  ///   such an element, only one of these members sends the element.
  /// - Messages that this rank sends to other members of the group.
  CollectivePlan redistribute() {
    const int64_t own = group.pieces[me];
    const bool isEmpty = group.shards.at(own).isEmpty;
    for (const int member : group.ranges->readersOf(me))
      if (member != me && !isEmpty && sourceFor(member, own) == me)
        addSend(member, between(me, member));
    std::set<int> sources;
    for (const int holder : group.ranges->holdersFor(me))
      if (!group.shards.at(group.pieces[holder]).isEmpty)
        sources.insert(sourceFor(me, group.pieces[holder]));
    for (const int source : sources) {
      if (source == me)
        plan.local = between(me, me);
      else
        addReceive(source, between(source, me), /*alwaysPacked=*/false);
    }
    findHoles();
    return std::move(plan);
  }

private:
  int numMembers() const { return static_cast<int>(group.members.size()); }

  /// Returns copies that read the operand of member `source` and write the
  /// result of member `target`. `source` and `target` are indices of members in
  /// the group. The two indices may be equal. The copies move all elements of
  /// the tensor that are in the operand of member `source` and also in the
  /// result of member `target`.
  ///
  /// For example, 2 members gather a vector of 8 elements. The operand of
  /// member 1 has elements 4 to 7 of the vector. The result of member 0 has
  /// elements 0 to 7 of the vector. If `source` is 1 and `target` is 0, the
  /// function returns a copy of elements 4 to 7.
  std::vector<StridedCopy> between(int source, int target) const {
    return intersect({&spec.from, &group.members[source]},
                     {&spec.to, &group.members[target]}, mesh);
  }

  /// Sets plan.hasHoles to true if a dim of the result `out` of this rank has a
  /// view (window), and some elements of `out` get no value in the collective.
  /// An element gets a value from a local copy or from a received message.
  /// Otherwise sets plan.hasHoles to false.
  ///
  /// A view is a window of a dim: `out` has the elements in the window. The
  /// window may begin before the first element of the dim. For example, a
  /// convolution with padding 1 needs a window that begins one element before
  /// the dim. The first element of `out` is then padding, and gets no value.
  void findHoles() {
    int64_t made = countElements(plan.local);
    for (const PeerPiece &piece : plan.receives)
      made += piece.elements;
    plan.hasHoles = hasView(spec.to) && made < numElements(localShape(spec.to));
  }

  /// Returns the member that sends shard number `piece` to `receiver`, or
  /// `receiver` if it holds this shard. Receivers are distributed evenly. For
  /// example, members 0 to 3 hold shard A, members 4 and 5 hold shard B. Then
  /// members 0, 1, 2, 3 receive B from members 4, 5, 4, 5.
  int sourceFor(int receiver, int64_t piece) const {
    if (group.pieces[receiver] == piece)
      return receiver;
    const std::vector<int> &senders = group.shards.at(piece).holders;
    return senders[group.places[receiver] % senders.size()];
  }

  /// Returns `copies` with one side replaced by contiguous memory. `side` names
  /// this side: the source or the target. The contiguous memory begins at
  /// offset 0, and has the elements in the order of the copies.
  ///
  /// For example, a copy reads elements 0, 4 and 8 and writes elements 5, 7 and
  /// 9. If `side` is Target, the returned copy reads elements 0, 4 and 8 and
  /// writes elements 0, 1 and 2.
  static std::vector<StridedCopy> densely(std::vector<StridedCopy> copies,
                                          Side side) {
    int64_t offset = 0;
    for (StridedCopy &copy : copies) {
      (side == Side::Source ? copy.sourceOffset : copy.targetOffset) = offset;
      int64_t stride = 1;
      for (auto loop = copy.loops.rbegin(); loop != copy.loops.rend(); ++loop) {
        (side == Side::Source ? loop->sourceStride : loop->targetStride) =
            stride;
        stride *= loop->extent;
      }
      simplify(copy);
      offset += stride;
    }
    return copies;
  }

  /// Adds a message from this rank to the member with index `member` in the
  /// group. The message has the elements that `copies` read from this rank's
  /// operand `in`. If `copies` read no elements, adds no message.
  ///
  /// If the elements are contiguous in `in`, this rank sends them directly from
  /// `in`. Otherwise this rank first copies them to scratch (temporary memory),
  /// and sends from scratch.
  void addSend(int member, const std::vector<StridedCopy> &copies) {
    PeerPiece piece{member, countElements(copies)};
    if (piece.elements == 0)
      return;
    if (isContiguousSource(copies))
      piece.offset = copies[0].sourceOffset;
    else
      pack(piece, copies, Side::Target);
    plan.sends.push_back(std::move(piece));
  }

  /// Adds a message to this rank from the member with index `member` in the
  /// group. The message has the elements that `copies` write to this rank's
  /// result `out`. If `copies` write no elements, adds no message.
  ///
  /// If the elements are contiguous in `out` and `alwaysPacked` is false, this
  /// rank receives them directly in `out`. Otherwise this rank receives them in
  /// scratch (temporary memory).
  void addReceive(int member, const std::vector<StridedCopy> &copies,
                  bool alwaysPacked) {
    PeerPiece piece{member, countElements(copies)};
    if (piece.elements == 0)
      return;
    if (!alwaysPacked && isContiguousTarget(copies))
      piece.offset = copies[0].targetOffset;
    else
      pack(piece, copies, Side::Source);
    plan.receives.push_back(std::move(piece));
  }

  /// Makes the message `piece` use scratch, the temporary memory of this rank.
  /// Reserves space in scratch, and sets `packed`, `scratchOffset` and `copies`
  /// of `piece`. The parameter `copies` describes copies from the operand of
  /// the sender to the result of the receiver. In `piece.copies`, scratch
  /// replaces the buffer of the other rank. If this rank sends, `scratchSide`
  /// is Target, and the copies write scratch. If this rank receives,
  /// `scratchSide` is Source, and the copies read scratch.
  void pack(PeerPiece &piece, const std::vector<StridedCopy> &copies,
            Side scratchSide) {
    piece.packed = true;
    piece.scratchOffset = plan.scratchElements;
    piece.copies = densely(copies, scratchSide);
    plan.scratchElements += piece.elements;
  }

  const CollectiveSpec &spec;
  const Mesh &mesh;
  const CollectiveGroup &group;
  int me; ///< index of this rank in the group
  CollectivePlan plan;
};
} // namespace

/// Returns whether a collective leaves the division of its tensor over ranks as
/// it is, so that it needs no plan.
static bool keepsShards(dist::CollectiveKind kind) {
  return kind == dist::CollectiveKind::AllReduce ||
         kind == dist::CollectiveKind::Broadcast;
}

CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const Coordinates &at) {
  if (keepsShards(spec.kind))
    return {};
  return planCollective(spec, mesh, CollectiveGroup(spec, mesh, at),
                        int(coordinateOf(spec.group, mesh, at)));
}

CollectivePlan planCollective(const CollectiveSpec &spec, const Mesh &mesh,
                              const CollectiveGroup &group, int member) {
  if (keepsShards(spec.kind))
    return {};
  Planner planner(spec, mesh, group, member);
  switch (spec.kind) {
  case dist::CollectiveKind::Slice:
    return planner.slice();
  case dist::CollectiveKind::AllGather:
    return planner.gather();
  case dist::CollectiveKind::ReduceScatter:
    return planner.reduceScatter();
  default:
    return planner.redistribute();
  }
}

int64_t splitAllReduceScratchElements(int64_t elements, int64_t members) {
  return (elements + members - 1) / members * members;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns a copy of `layout` that has only the first `count` dims. A layout
/// has one entry per dim of a tensor. The entry describes how the dim is
/// divided over ranks. For example, a tensor has 3 dims, and `count` is 2. The
/// copy then has the entries of dims 0 and 1.
static Layout firstDims(const Layout &layout, size_t count) {
  Layout first = layout;
  first.dims.resize(count);
  return first;
}

/// Returns the layout of the operand of an AllGather, or the layout of the
/// result of a ReduceScatter. A layout describes how a tensor is divided over
/// ranks. This tensor is divided over the ranks of the group: each rank has
/// only its own rows.
///
/// For example, an AllGather over 2 ranks has an operand with 3 rows on each
/// rank, and a result with 6 rows on each rank. The function returns the layout
/// of the operand.
static const Layout &dividedSide(const CollectiveSpec &spec) {
  return spec.kind == dist::CollectiveKind::AllGather ? spec.from : spec.to;
}
/// Returns the layout of the result of an AllGather, or the layout of the
/// operand of a ReduceScatter. A layout describes how a tensor is divided over
/// ranks. This tensor is not divided over the ranks of the group: each rank has
/// the rows of all ranks of the group.
///
/// For example, an AllGather over 2 ranks has an operand with 3 rows on each
/// rank, and a result with 6 rows on each rank. The function returns the layout
/// of the result.
static const Layout &wholeSide(const CollectiveSpec &spec) {
  return spec.kind == dist::CollectiveKind::AllGather ? spec.to : spec.from;
}

/// Returns the offsets of elements of `copies`, in the order in which the
/// copies process the elements. If `side` is Source, the result has the offsets
/// of the elements that the copies read. If `side` is Target, the result has
/// the offsets of the elements that the copies write.
///
/// For example, a copy reads elements 0, 4 and 8 and writes elements 5, 6 and
/// 7. The result is {0, 4, 8} for Source, and {5, 6, 7} for Target.
static std::vector<int64_t> offsetsOf(const std::vector<StridedCopy> &copies,
                                      Side side) {
  std::vector<int64_t> offsets;
  for (const StridedCopy &copy : copies) {
    size_t first = offsets.size();
    offsets.push_back(side == Side::Source ? copy.sourceOffset
                                           : copy.targetOffset);
    for (const CopyLoop &loop : copy.loops) {
      const std::vector<int64_t> outer(offsets.begin() + ptrdiff_t(first),
                                       offsets.end());
      offsets.resize(first);
      for (int64_t offset : outer)
        for (int64_t i = 0; i < loop.extent; ++i)
          offsets.push_back(offset + i * (side == Side::Source
                                              ? loop.sourceStride
                                              : loop.targetStride));
    }
  }
  return offsets;
}

/// Removes all dims after the first `rowDims` dims from both layouts, so that
/// each row becomes one element. For example, the shape [6, 16] with `rowDims`
/// = 1 becomes [6]. intersect() then returns copies of one member's rows. The
/// copies read the tensor that has only these rows (`divided`) and write the
/// tensor that has the rows of all members (`whole`), so the offsets of the
/// copies are indices of rows. For example, if 2 members have 3 rows each, the
/// copies for member 1 read the indices 0, 1 and 2, and write the indices 3, 4
/// and 5.
std::optional<RowPlan> planRows(const CollectiveSpec &spec, size_t rowDims,
                                const Mesh &mesh, const Coordinates &at) {
  const Layout divided = firstDims(dividedSide(spec), rowDims),
               whole = firstDims(wholeSide(spec), rowDims);
  RowPlan plan;
  for (const Coordinates &member : membersOf(spec.group, mesh, at)) {
    const LocatedLayout own{&divided, &member};
    const auto copies = intersect(own, {&whole, &at}, mesh);
    plan.whole.push_back(offsetsOf(copies, Side::Target));
    if (countElements(intersect(own, own, mesh)) !=
        int64_t(plan.whole.back().size()))
      return std::nullopt;
    if (member == at)
      plan.divided = offsetsOf(copies, Side::Source);
  }
  return plan;
}

int64_t rowElements(const CollectiveSpec &spec, size_t rowDims) {
  const std::vector<int64_t> shape = localShape(spec.from);
  return numElements(std::span(shape).subspan(rowDims));
}

bool areConsecutive(const RowPlan &plan) {
  for (const std::vector<int64_t> &rows : plan.whole)
    for (size_t i = 1; i < rows.size(); ++i)
      if (rows[i] != rows[i - 1] + 1)
        return false;
  return true;
}

int64_t rowScratchElements(const CollectiveSpec &spec, size_t rowDims,
                           const Mesh &mesh) {
  // Compute the size of scratch for rank 0, because no rank needs more scratch
  // than rank 0. The size depends on the number of rows of a rank. A row is a
  // block of elements, such as one token. If the ranks have different numbers
  // of rows, rank 0 has the largest number. For example, 7 rows over 2 ranks
  // give 4 rows to rank 0 and 3 rows to rank 1.
  const auto plan =
      planRows(spec, rowDims, mesh, Coordinates(mesh.axes.size(), 0));
  if (!plan)
    return 0;
  const bool isInPlace =
      spec.kind == dist::CollectiveKind::AllGather && areConsecutive(*plan);
  const int64_t others = numParts(spec.group) - 1;
  return (isInPlace ? 1 : 2) * others * int64_t(plan->divided.size()) *
         rowElements(spec, rowDims);
}

} // namespace pcc::runtime
