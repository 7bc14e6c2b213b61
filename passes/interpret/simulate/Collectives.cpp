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

  /// Returns whether the ranks `rank` and `other` communicate in the
  /// collective. For example, the mesh has the axes dp and tp, and the
  /// collective gathers the shards along tp. Then two ranks communicate if they
  /// have the same coordinate along dp.
  ///
  /// The function compares coordinates only if the collective has masks. A mask
  /// is a tensor of booleans, which selects the rows that a rank sends or
  /// receives. If the collective has no masks, the function always returns
  /// true.
  bool areInOneGroup(int64_t rank, int64_t other) const {
    return masks.empty() || groupOfRank[rank] == groupOfRank[other];
  }

  /// Returns whether the collective moves one element between the ranks `owner`
  /// and `other`. Always returns true if the collective has no masks, or if
  /// both ranks are the same rank.
  ///
  /// Only an all_gather or a reduce_scatter has masks. `owner` is the rank
  /// whose shard contains the element. `ownerPlace` is the row-major index of
  /// the element in this shard. The rank `other` has a larger tensor, which
  /// contains the elements of several shards. It is the result of an
  /// all_gather, or the operand of a reduce_scatter. `otherPlace` is the
  /// row-major index of the element in the larger tensor.
  ///
  /// A row is, for example, the features of one token in a tensor [tokens,
  /// features]. The element belongs to one row. Both ranks have a boolean mask.
  /// The mask of `owner` has an entry for this row and the rank `other`. The
  /// mask of `other` has an entry for this row. Each of the two entries tells
  /// whether the row moves between the two ranks. The function returns the
  /// entry in the mask of `other`. If the entry in the mask of `owner` is
  /// different, the function also stores an error message in the member
  /// `fault`.
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

  /// Elements that the result on one rank and the operand on a source rank have
  /// in common. Along dim d, local index to[d][i] of the result and local index
  /// from[d][i] of the operand are the same global index. Example: the result
  /// has the global indices 4 … 7, the operand has 6 … 9:
  ///   to[d] = 2, 3 and from[d] = 0, 1
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

  /// Returns the ranks from which the rank `rank` may copy elements in a
  /// collective without a reduction, such as an all_gather. The nearest rank is
  /// first. The distance of two ranks is the number of mesh axes along which
  /// their coordinates differ, so the first rank is `rank` itself. Leaves out
  /// two kinds of ranks:
  ///
  ///  - A rank that holds other summands than `rank`. For example, the operand
  ///    is a sum over the axis tp that no all-reduce has computed yet. Then two
  ///    ranks with different coordinates along tp hold different summands, and
  ///    must not copy from each other.
  ///  - A rank that does not communicate with `rank`. The function checks this
  ///    only if the collective has masks, which select the rows to move.
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

  /// Computes the result of a collective without a reduction on the rank
  /// `rank`. The function copies the elements of `result` from the operands.
  /// There are three cases:
  ///
  ///  - Slice: each rank keeps a part of its own operand. The function copies
  ///    this part.
  ///  - Mask: the function copies the whole operand of `rank`. Then it calls
  ///    mask(), which replaces all elements on some ranks, for example by 0.
  ///  - Any other collective, such as an all_gather: the function copies each
  ///    element from the nearest rank that holds the element. The mesh
  ///    coordinates of the nearest rank differ along the fewest axes. If
  ///    `rank` itself holds the element, `rank` is the nearest rank.
  ///
  /// An all_gather may have boolean masks, which select the rows that move
  /// between ranks. A row is, for example, the features of one token. If
  /// another rank does not send a row to `rank`, the function does not copy the
  /// elements of this row.
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

  /// Changes a tensor into summands of this tensor. The sharding of the
  /// collective's result says that the tensor must be summed over one or more
  /// mesh axes, such as tp. Before the call, the ranks along these axes hold
  /// the same tensor. `result` is this tensor on the rank `rank`. If `rank` has
  /// the coordinate 0 along these axes, `result` stays as it is. If not, the
  /// function sets all elements of `result` to 0. The sum over the ranks is
  /// then the original tensor. For example, 2 ranks along tp hold the number 5.
  /// Afterwards, the first rank holds 5, and the second rank holds 0.
  ///
  /// The sharding may name another reduction than a sum. The function then uses
  /// the neutral element of this reduction in place of 0, such as 1 for a
  /// product.
  void mask(int64_t rank, HostTensor &result) {
    auto added = partialsOnlyIn(to, from);
    if (added.empty() ||
        dist::coordinateOf(axesOf(added), ranks.mesh, ranks.at(rank)) == 0)
      return;
    llvm::fill(result.floats, neutral<double>(added.front().kind));
    llvm::fill(result.ints, neutral<int64_t>(added.front().kind));
  }

  /// Computes the result of an all_reduce or reduce_scatter on the rank `rank`.
  /// The ranks that communicate form a group. `rank` is one rank of the group.
  /// For each element of `result`, every rank of the group holds a summand in
  /// its operand. The function adds these summands. If the collective has
  /// another reduction than a sum, the function combines them by this
  /// reduction, such as the maximum.
  ///
  /// A reduce_scatter may have boolean masks. A mask selects the rows that a
  /// rank sends. A row is, for example, the features of one token in a tensor
  /// [tokens, features]. If another rank does not send a row to `rank`, the
  /// function uses 0 in place of the summands of that rank.
  ///
  /// Before the call, the member `missing` is the number of elements of
  /// `result`. The function subtracts the number of elements for which every
  /// rank of the group holds a summand. If `missing` is not 0 after the call,
  /// at least one element lacks a summand, and run() returns an error.
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
  /// State of the computation of the result on one rank. The computation
  /// searches the operands of the ranks for each element of the result.
  /// `missing` is the number of elements that it has not found yet. Only a
  /// collective without a reduction, such as an all_gather, uses `filled`. Then
  /// filled[i] tells whether the computation has found element i of the result,
  /// in row-major order.
  int64_t missing = 0;
  std::vector<bool> filled;
};
} // namespace

StatusOr<std::vector<HostTensor>> interpret::evaluateCollective(
    dist::CollectiveOp op, const SimulatedRanks &ranks,
    ArrayRef<const HostTensor *> inputs, ArrayRef<RowMasks> masks) {
  return CollectiveRun(op, ranks, inputs, masks).run();
}
