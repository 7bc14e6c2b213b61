//===- Collectives.cpp - collectives between simulated ranks --------------===//

#include "passes/interpret/simulate/Collectives.h"
#include "dialects/graph/reference/Arithmetic.h"
#include "passes/interpret/simulate/ShardIndices.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using dist::CollectiveKind;
using dist::ReductionKind;
using graph::HostTensor;

/// Combines two partial values of type T by the reduction `kind`.
template <typename T> static T combineAs(ReductionKind kind, T a, T b) {
  switch (kind) {
  case ReductionKind::Sum:
    return graph::wrappingAdd(a, b);
  case ReductionKind::Prod:
    return graph::wrappingMul(a, b);
  case ReductionKind::Max:
    return graph::larger(a, b);
  case ReductionKind::Min:
    return graph::smaller(a, b);
  case ReductionKind::And:
    return a != 0 && b != 0;
  case ReductionKind::Or:
    return a != 0 || b != 0;
  }
  return a;
}

double interpret::combine(ReductionKind kind, double a, double b) {
  return combineAs(kind, a, b);
}
int64_t interpret::combine(ReductionKind kind, int64_t a, int64_t b) {
  return combineAs(kind, a, b);
}

/// Returns the neutral element of the reduction `kind`, such as 0 for a sum.
template <typename T> static T neutral(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Max:
    return graph::lowest<T>();
  case ReductionKind::Min:
    return graph::highest<T>();
  case ReductionKind::Prod:
  case ReductionKind::And:
    return 1;
  default:
    return 0;
  }
}

/// Returns `axes` without the axes in `others`. Both lists contain mesh axes or
/// parts of mesh axes. For example, the axis tp of size 8 is the product of a
/// major part of size 2 and a minor part of size 4. If `axes` contains the
/// whole axis tp, and `others` contains the major part, the result contains the
/// minor part.
static dist::SubAxes lacking(const dist::SubAxes &axes,
                             const dist::SubAxes &others) {
  dist::SubAxes rest = axes;
  for (const dist::SubAxis &other : others) {
    dist::SubAxes next;
    for (const dist::SubAxis &axis : rest)
      llvm::append_range(next, overlaps(axis, other)
                                   ? dist::without(axis, other)
                                   : dist::SubAxes{axis});
    rest = next;
  }
  return rest;
}

namespace {
/// Tells which rows of a tensor a collective moves between two ranks. A row is,
/// for example, the features of one token in a tensor [tokens, features]. One
/// of the two ranks is the owner of the row: the shard of the owner contains
/// the row. In an all_gather, the owner sends the row to the other rank. In a
/// reduce_scatter, the other rank sends its summand of the row to the owner.
///
/// Each rank may have boolean masks, which select the rows that the rank sends
/// and receives. For example, a rank receives only the tokens for its experts.
/// The masks of the owner and of the other rank must agree about each row. If
/// the ranks have no masks, all rows move.
class RowTable {
public:
  RowTable(dist::CollectiveOp op, const SimulatedRanks &ranks,
           ArrayRef<RowMasks> masks)
      : ranks(ranks), masks(masks) {
    if (masks.empty())
      return;
    const bool gathers = op.getKind() == CollectiveKind::AllGather;
    const auto from = dist::splitAxes(op.getFrom().getSharding()),
               to = dist::splitAxes(op.getTo().getSharding());
    group = lacking(gathers ? from : to, gathers ? to : from);
    llvm::sort(group, [&](const dist::SubAxis &a, const dist::SubAxis &b) {
      return std::pair(ranks.mesh.indexOf(a.axis), a.pre) <
             std::pair(ranks.mesh.indexOf(b.axis), b.pre);
    });
    const auto first = static_cast<size_t>(
        cast<RankedTensorType>(op.getRows()[1].getType()).getRank());
    for (int64_t size : cast<RankedTensorType>(op.getInput().getType())
                            .getShape()
                            .drop_front(first))
      elements *= size;
    groupOfRank.resize(ranks.size());
    for (auto [i, members] :
         llvm::enumerate(dist::groupsOf(ranks.mesh.spatial(), group)))
      for (int64_t rank : members)
        groupOfRank[rank] = i;
  }

  /// Returns whether the rank `rank` may exchange rows with the rank `other`. A
  /// collective divides the ranks into groups, and only ranks of the same group
  /// communicate. Example: the mesh has the axes dp and tp, and the collective
  /// gathers the shards along tp. Two ranks are in the same group if they have
  /// the same coordinate along dp.
  ///
  /// This object stores the groups only if the collective has masks. A mask is
  /// a tensor of booleans, which selects the rows that a rank sends or
  /// receives. If the collective has no masks, the function returns true for
  /// all pairs of ranks.
  bool areInOneGroup(int64_t rank, int64_t other) const {
    return masks.empty() || groupOfRank[rank] == groupOfRank[other];
  }

  /// Returns whether a collective moves one element of a tensor between the
  /// ranks `owner` and `other`. Always returns true if the collective has no
  /// masks, or if `owner` and `other` are the same rank. Two kinds of
  /// collectives can have masks:
  ///
  ///  - all_gather: `owner` is the sender, and `other` is the receiver. The
  ///    operand of `owner` is a shard that contains the element. The result on
  ///    `other` contains the elements of several shards.
  ///  - reduce_scatter: `other` is the sender, and `owner` is the receiver. The
  ///    operand of `other` contains summands for several shards. One of them is
  ///    the summand of the element. The result on `owner` is a shard that
  ///    contains the element.
  ///
  /// The element belongs to a row. A row is, for example, the features of one
  /// token in a tensor [tokens, features]. A mask is a tensor of booleans. The
  /// sender has a mask with a boolean that tells whether the sender sends the
  /// row. The receiver has a mask with a boolean that tells whether the
  /// receiver wants the row. If the two booleans are equal, the function
  /// returns this boolean. If they are different, the masks contradict each
  /// other. The function then stores an error message in the member `fault`,
  /// and returns the boolean of `other`.
  ///
  /// `ownerPlace` is the row-major index of the element in the shard of
  /// `owner`. `otherPlace` is the row-major index of the element in the larger
  /// tensor of `other`.
  ///
  /// Example: an all_gather of 4 tokens with 3 features on 2 ranks. Rank 1 has
  /// the tokens 2 and 3. The element is the first feature of token 3, `owner`
  /// is 1, and `other` is 0. Token 3 is row 1 of the shard, so `ownerPlace` is
  /// 1 · 3 = 3. Token 3 is row 3 of the result, so `otherPlace` is 3 · 3 = 9.
  bool counts(int64_t owner, int64_t ownerPlace, int64_t other,
              int64_t otherPlace) {
    if (masks.empty() || owner == other)
      return true;
    const int64_t member =
        dist::coordinateOf(group, ranks.mesh, ranks.at(other));
    const bool asked =
        masks[owner]
            .divided
            ->ints[ownerPlace / elements * dist::numParts(group) + member] != 0;
    const bool wanted = masks[other].whole->ints[otherPlace / elements] != 0;
    if (asked != wanted)
      fault = "ranks " + std::to_string(owner) + " and " +
              std::to_string(other) + " disagree about row " +
              std::to_string(otherPlace / elements);
    return wanted;
  }

  std::string fault; ///< error message; empty if all masks agree

private:
  const SimulatedRanks &ranks;
  ArrayRef<RowMasks> masks;
  dist::SubAxes group;             ///< axes that split only the divided side
  int64_t elements = 1;            ///< number of elements of a row
  std::vector<size_t> groupOfRank; ///< index of the group of each rank
};

/// Executes one collective, such as an all_gather, on all ranks. Uses the
/// shardings of operand and result to find the global indices that each rank
/// has and needs.
class CollectiveRun {
public:
  CollectiveRun(dist::CollectiveOp op, const SimulatedRanks &ranks,
                ArrayRef<const HostTensor *> inputs, ArrayRef<RowMasks> masks)
      : op(op), ranks(ranks), inputs(inputs), rows(op, ranks, masks),
        from(op.getFrom().getSharding()), to(op.getTo().getSharding()),
        shape(op.getShape()) {
    for (int64_t rank = 0; rank < ranks.size(); ++rank) {
      held.push_back(localIndices(from, shape, ranks.mesh, ranks.at(rank)));
      wanted.push_back(localIndices(to, shape, ranks.mesh, ranks.at(rank)));
    }
  }

  /// Executes the collective on all ranks. Entry r of the returned list is the
  /// result on rank r. Returns an error in two cases:
  ///
  ///  - The result on a rank needs an element, or a summand of an element,
  ///    that no rank provides.
  ///  - The collective has masks, and two masks contradict each other. A mask
  ///    is a tensor of booleans, which selects the rows that a rank sends or
  ///    receives. A row is, for example, the features of one token. Two masks
  ///    contradict each other if, for example, rank 0 sends a row to rank 1,
  ///    but rank 1 does not receive this row.
  StatusOr<std::vector<HostTensor>> run() {
    std::vector<HostTensor> results;
    bool reduces = op.getKind() == CollectiveKind::AllReduce ||
                   op.getKind() == CollectiveKind::ReduceScatter;
    for (int64_t rank = 0; rank < ranks.size(); ++rank) {
      results.push_back(
          emptyShard(wanted[rank], inputs[rank]->kind, Padding::Poison));
      missing = count(wanted[rank]);
      filled.assign(results.back().numElements(), false);
      if (reduces)
        reduce(rank, results.back());
      else
        move(rank, results.back());
      if (missing)
        return Status::error(
            Defect, std::string(toString(op.getKind())) + " leaves rank " +
                        std::to_string(rank) + " without " +
                        std::to_string(missing) + " of its elements");
    }
    if (!rows.fault.empty())
      return Status::error(Defect, rows.fault);
    return results;
  }

private:
  /// Returns the number of elements that a shard holds. `indices` has one list
  /// per dim of the shard. An entry of a list is a global index, or a negative
  /// number. A negative number means that the shard holds no element at this
  /// place. For example, the place is in the unused end of the shard's buffer.
  ///
  /// Example: `indices` is {{0, 1}, {4, 5, -1}}. The shard holds 2 rows of 2
  /// elements, so the function returns 4.
  static int64_t count(const LocalIndices &indices) {
    int64_t product = 1;
    for (const std::vector<int64_t> &dim : indices)
      product *= llvm::count_if(dim, [](int64_t index) { return index >= 0; });
    return product;
  }

  /// Returns the reductions that a tensor with the sharding `one` still needs,
  /// but a tensor with the sharding `other` does not need. A tensor needs, for
  /// example, a sum over the axis tp if the ranks along tp hold summands that
  /// no collective has added yet.
  ///
  /// Example: a tensor with the sharding `one` needs sums over the axes dp and
  /// tp. A tensor with the sharding `other` needs a sum over dp. The result has
  /// one entry, which is the sum over tp.
  ///
  /// The function leaves out reductions over the mesh axis "mb". A coordinate
  /// along this axis is the number of a microbatch. A collective never
  /// communicates along this axis.
  static std::vector<dist::Partial>
  partialsOnlyIn(const dist::Sharding &one, const dist::Sharding &other) {
    std::vector<dist::Partial> result;
    for (const dist::Partial &partial : one.partials)
      for (const dist::SubAxis &piece :
           lacking({partial.axis}, dist::partialAxes(other)))
        if (piece.axis != dist::timeAxis)
          result.push_back({piece, partial.kind});
    return result;
  }

  static dist::SubAxes axesOf(const std::vector<dist::Partial> &partials) {
    dist::SubAxes axes;
    for (const dist::Partial &partial : partials)
      axes.push_back(partial.axis);
    return axes;
  }

  /// Elements that are both in the result on a rank A and in the operand on a
  /// rank B. A and B may be different ranks. The struct describes the elements
  /// by local indices. A local index counts from the start of the tensor on a
  /// rank. `to` and `from` have one list per dim. The lists to[d] and from[d]
  /// have equal lengths. to[d][i] is a local index in the result on rank A, and
  /// from[d][i] is a local index in the operand on rank B. Both local indices
  /// belong to the same global index of dim d.
  ///
  /// Example for a tensor with one dim: the result on rank A has the global
  /// elements 4 to 7, and the operand on rank B has the global elements 6 to 9.
  /// The elements 6 and 7 are in both. Element 6 has the local index 2 in the
  /// result and 0 in the operand. Element 7 has the local index 3 in the result
  /// and 1 in the operand. Therefore `to` is {{2, 3}}, and `from` is {{0, 1}}.
  struct Common {
    SmallVector<std::vector<int64_t>> to, from;
  };
  /// Returns the elements that are both in the result of the collective on the
  /// rank `rank` and in its operand on the rank `source`.
  Common commonOf(int64_t rank, int64_t source) const {
    Common common;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      std::vector<int64_t> place(shape[dim], -1), to, at;
      for (auto [i, index] : llvm::enumerate(held[source][dim]))
        if (index >= 0)
          place[index] = static_cast<int64_t>(i);
      for (auto [i, index] : llvm::enumerate(wanted[rank][dim]))
        if (index >= 0 && place[index] >= 0) {
          to.push_back(static_cast<int64_t>(i));
          at.push_back(place[index]);
        }
      common.to.push_back(std::move(to));
      common.from.push_back(std::move(at));
    }
    return common;
  }

  /// Calls `visit` for each element that is both in the result on the rank
  /// `rank` and in the operand on the rank `source`. `visit` gets two row-major
  /// positions of the element: in the result, then in the operand.
  template <typename Visit>
  void forEachCommon(int64_t rank, int64_t source, Visit visit) const {
    Common common = commonOf(rank, source);
    SmallVector<int64_t> toStrides(shape.size(), 1), fromStrides(toStrides);
    for (size_t dim = shape.size(); dim-- > 1;) {
      toStrides[dim - 1] = toStrides[dim] * wanted[rank][dim].size();
      fromStrides[dim - 1] = fromStrides[dim] * held[source][dim].size();
    }
    auto recurse = [&](auto &self, size_t dim, int64_t to, int64_t at) -> void {
      if (dim == shape.size())
        return visit(to, at);
      for (size_t i = 0; i < common.to[dim].size(); ++i)
        self(self, dim + 1, to + common.to[dim][i] * toStrides[dim],
             at + common.from[dim][i] * fromStrides[dim]);
    };
    recurse(recurse, 0, 0, 0);
  }

  /// Returns the ranks from which the rank `rank` may copy elements, in a
  /// collective without a reduction, such as an all_gather. The ranks are
  /// sorted by their distance to `rank`. The distance of two ranks is the
  /// number of mesh axes along which their coordinates differ. Example: the
  /// mesh has the axes dp and tp of size 2. Rank 0 has the distance 0 to
  /// itself, 1 to the ranks 1 and 2, and 2 to rank 3. For rank 0, the function
  /// returns {0, 1, 2, 3}.
  ///
  /// The function leaves out two kinds of ranks:
  ///
  ///  - A rank whose operand contains another summand of the same sum. For
  ///    example, the operands on the ranks along tp are summands, and a later
  ///    all-reduce adds them. `rank` must not copy a summand from a rank with
  ///    another coordinate along tp.
  ///  - A rank that does not communicate with `rank`. The function leaves out
  ///    this kind of rank only if the collective has masks. A mask selects the
  ///    rows that a rank sends or receives.
  std::vector<int64_t> sourcesOf(int64_t rank) const {
    dist::Coordinates own = ranks.at(rank);
    std::vector<std::pair<int64_t, int64_t>> byDistance;
    dist::SubAxes partial = dist::partialAxes(from);
    for (int64_t other = 0; other < ranks.size(); ++other) {
      dist::Coordinates where = ranks.at(other);
      int64_t distance = 0;
      for (size_t i = 0; i < own.size(); ++i)
        distance += own[i] != where[i];
      if (dist::coordinateOf(partial, ranks.mesh, own) ==
              dist::coordinateOf(partial, ranks.mesh, where) &&
          rows.areInOneGroup(rank, other))
        byDistance.push_back({distance, other});
    }
    llvm::sort(byDistance);
    std::vector<int64_t> sources;
    for (auto [distance, other] : byDistance)
      sources.push_back(other);
    return sources;
  }

  /// Computes the result of a collective on the rank `rank`. The collective has
  /// no reduction. The function copies the elements of `result` from the
  /// operands. There are three cases:
  ///
  ///   - The collective has the kind Slice: each rank keeps a part of its own
  ///     operand. The function copies this part.
  ///   - The collective has the kind Mask: several ranks have equal operands.
  ///     The first of these ranks keeps its operand. On the other ranks, each
  ///     element becomes the neutral element of a reduction, such as 0 for a
  ///     sum. The function copies the whole operand of `rank` to `result`, and
  ///     then calls mask(). If `rank` is not the first rank, mask() sets all
  ///     elements of `result` to the neutral element.
  ///   - Any other collective, such as an all_gather: the function copies each
  ///     element from a rank that holds the element. If several ranks hold the
  ///     element, the function copies it from the rank that is nearest to
  ///     `rank`. The distance of two ranks is the number of mesh axes along
  ///     which their coordinates differ. `rank` has the distance 0 to itself.
  ///
  /// An all_gather may move only some rows of a tensor. A row is, for example,
  /// the features of one token in a tensor [tokens, features]. The member
  /// `rows` tells which rows move between two ranks. If another rank does not
  /// send a row to `rank`, the function does not copy the elements of this row.
  void move(int64_t rank, HostTensor &result) {
    bool isLocal = op.getKind() == CollectiveKind::Slice ||
                   op.getKind() == CollectiveKind::Mask;
    std::vector<int64_t> sources =
        isLocal ? std::vector<int64_t>{rank} : sourcesOf(rank);
    for (int64_t source : sources) {
      if (!missing)
        break;
      withStorage(result.kind, [&](auto zero) {
        using T = decltype(zero);
        forEachCommon(rank, source, [&](int64_t place, int64_t at) {
          if (filled[place])
            return;
          filled[place] = true;
          --missing;
          if (rows.counts(source, at, rank, place))
            result.data<T>()[place] = inputs[source]->data<T>()[at];
        });
      });
    }
    if (op.getKind() == CollectiveKind::Mask)
      mask(rank, result);
  }

  /// Completes the result of a mask collective on the rank `rank`. Before a
  /// mask collective, several ranks hold the same tensor. After the collective,
  /// each of these ranks holds one summand, and the sum of all summands is the
  /// tensor. The first of these ranks keeps the tensor. All other ranks get a
  /// tensor of zeros.
  ///
  /// Before the call, `result` contains the operand on `rank`. If `rank` is not
  /// the first rank, the function sets all elements of `result` to 0. Example:
  /// the two ranks along the axis tp hold the number 5. After the collective,
  /// the first rank holds 5, and the second rank holds 0. The sum is 5.
  ///
  /// The sharding of the collective's result contains the mesh axes of the sum,
  /// such as tp. The first rank is the rank with the coordinate 0 along these
  /// axes. The sharding may contain another reduction than a sum. The function
  /// then uses the neutral element of this reduction in place of 0, such as 1
  /// for a product.
  void mask(int64_t rank, HostTensor &result) {
    auto added = partialsOnlyIn(to, from);
    if (added.empty() ||
        dist::coordinateOf(axesOf(added), ranks.mesh, ranks.at(rank)) == 0)
      return;
    llvm::fill(result.floats, neutral<double>(added.front().kind));
    llvm::fill(result.ints, neutral<int64_t>(added.front().kind));
  }

  /// Computes the result of an all_reduce or reduce_scatter on the rank `rank`,
  /// and stores it in `result`. The ranks that communicate form a group, and
  /// `rank` belongs to this group. Each element of `result` is a sum, and each
  /// rank of the group has one summand in its operand. Example: the operands of
  /// an all_reduce on 2 ranks are [1, 2] and [10, 20]. The result is [11, 22].
  /// The collective may have another reduction than a sum, such as the maximum.
  /// The function then computes the maximum.
  ///
  /// A reduce_scatter may have boolean masks. A mask selects the rows that a
  /// rank sends. A row is, for example, the features of one token in a tensor
  /// [tokens, features]. If another rank does not send a row to `rank`, the
  /// function adds 0 in place of the summands of that rank.
  ///
  /// The function also checks that no summand is absent. Before the call, the
  /// member `missing` must be the number of elements of `result`. The function
  /// subtracts 1 for each element with a summand on every rank of the group.
  /// After the call, `missing` is the number of elements without all of their
  /// summands. If this number is not 0, run() returns an error.
  void reduce(int64_t rank, HostTensor &result) {
    auto gone = partialsOnlyIn(from, to);
    if (gone.empty())
      return;
    auto groups = dist::groupsOf(ranks.mesh.spatial(), axesOf(gone));
    const auto &group = *llvm::find_if(groups, [&](const auto &members) {
      return llvm::is_contained(members, rank);
    });
    std::vector<int64_t> numParts(result.numElements(), 0);
    withStorage(result.kind, [&](auto zero) {
      using T = decltype(zero);
      T *to = result.data<T>();
      for (int64_t source : group)
        forEachCommon(rank, source, [&](int64_t place, int64_t at) {
          T part = rows.counts(rank, place, source, at)
                       ? inputs[source]->data<T>()[at]
                       : T(0);
          to[place] = numParts[place]++
                          ? combineAs(gone.front().kind, to[place], part)
                          : part;
        });
    });
    missing -= llvm::count(numParts, static_cast<int64_t>(group.size()));
  }

  dist::CollectiveOp op;
  const SimulatedRanks &ranks;
  ArrayRef<const HostTensor *> inputs;
  RowTable rows;
  dist::Sharding from, to;
  SmallVector<int64_t> shape;
  /// Global indices of the elements that each rank has in its operand (`held`)
  /// and in its result (`wanted`).
  std::vector<LocalIndices> held, wanted;
  /// State of the computation of the result on one rank. The computation finds
  /// each element of the result in the operands of the ranks. In a reduction,
  /// the computation must find the summands of the element on all ranks that
  /// communicate.
  ///
  ///  - `missing` is the number of elements that have not been found yet.
  ///    Padding does not count.
  ///  - filled[i] is true if element i of the result, in row-major order, has
  ///    been found. Reductions do not use `filled`.
  ///
  /// Example: an all_gather computes a result of 4 elements. After the first
  /// element has been found, `missing` is 3, and `filled` is {true, false,
  /// false, false}.
  int64_t missing = 0;
  std::vector<bool> filled;
};
} // namespace

StatusOr<std::vector<HostTensor>> interpret::evaluateCollective(
    dist::CollectiveOp op, const SimulatedRanks &ranks,
    ArrayRef<const HostTensor *> inputs, ArrayRef<RowMasks> masks) {
  return CollectiveRun(op, ranks, inputs, masks).run();
}
