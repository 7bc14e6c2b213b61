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

  /// Returns whether `rank` and `other` are in one group (the ranks that
  /// exchange rows). Returns true if the collective has no row masks.
  bool areInOneGroup(int64_t rank, int64_t other) const {
    return masks.empty() || groupOfRank[rank] == groupOfRank[other];
  }

  /// Returns whether the collective moves one element between the ranks `owner`
  /// and `other`. The shard of `owner` contains the element. `ownerPlace` is
  /// the row-major index of the element in this shard. The tensor of `other` is
  /// larger, because it is not split over the ranks that communicate.
  /// `otherPlace` is the row-major index of the element in this tensor.
  ///
  /// If the collective has no masks, or if both ranks are the same rank, the
  /// function returns true. If not, it looks up the row of the element in the
  /// mask of each rank. A mask tells whether the rank sends or receives the
  /// row. The function returns the entry in the mask of `other`. If the entry
  /// in the mask of `owner` is different, the function stores an error message
  /// in the member `fault`.
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

  /// Computes the result on every rank. Returns an error if elements of a
  /// rank's result are missing.
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
  /// Returns the number of elements of a shard. Padding and holes (reads
  /// outside of the tensor) do not count.
  static int64_t count(const LocalIndices &indices) {
    int64_t product = 1;
    for (const std::vector<int64_t> &dim : indices)
      product *= llvm::count_if(dim, [](int64_t index) { return index >= 0; });
    return product;
  }

  /// Returns the reductions that a tensor with the sharding `one` still needs,
  /// but a tensor with the sharding `other` does not need. For example, a
  /// tensor with the sharding `one` must still be summed over the axes dp and
  /// tp, and a tensor with the sharding `other` must still be summed over dp.
  /// The result then has one entry, which is the sum over tp.
  ///
  /// One axis of the mesh counts the microbatches. Reductions over this axis
  /// are not in the result.
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

  /// Computes the result on the rank `rank` of a collective without reduction,
  /// such as an all_gather. Copies each element from the nearest rank that
  /// holds it. In a slice or mask, this is `rank` itself.
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

  /// Makes a replicated value partial, such as a partial sum over tp. Ranks
  /// with coordinate 0 along the new partial axes keep the value in `result`.
  /// All other ranks fill `result` with the neutral element of the reduction,
  /// such as 0 for a sum.
  void mask(int64_t rank, HostTensor &result) {
    auto added = partialsOnlyIn(to, from);
    if (added.empty() ||
        dist::coordinateOf(axesOf(added), ranks.mesh, ranks.at(rank)) == 0)
      return;
    llvm::fill(result.floats, neutral<double>(added.front().kind));
    llvm::fill(result.ints, neutral<int64_t>(added.front().kind));
  }

  /// Computes the result of an all_reduce or reduce_scatter on the rank `rank`.
  /// The ranks that communicate with `rank` form a group. An element of
  /// `result` is, for example, the sum of the summands that the ranks of the
  /// group hold for this element. If masks select the rows to move, the summand
  /// of a rank that does not send the row is 0.
  ///
  /// Before the call, the member `missing` is the number of elements that
  /// `result` needs. The function subtracts the number of elements for which
  /// every rank of the group holds a summand. If `missing` is not 0 after the
  /// call, the collective is wrong, and run() returns an error.
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
  /// Progress of the result on one rank: number of elements that are still
  /// missing (`missing`), and whether each element has been copied (`filled`).
  int64_t missing = 0;
  std::vector<bool> filled;
};
} // namespace

StatusOr<std::vector<HostTensor>> interpret::evaluateCollective(
    dist::CollectiveOp op, const SimulatedRanks &ranks,
    ArrayRef<const HostTensor *> inputs, ArrayRef<RowMasks> masks) {
  return CollectiveRun(op, ranks, inputs, masks).run();
}
