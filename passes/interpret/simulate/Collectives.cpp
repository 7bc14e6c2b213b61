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
/// Tells which rows of a tensor a collective moves between two ranks. The owner
/// of a row is the rank whose shard contains it. In an all_gather, the owner
/// sends the row. In a reduce_scatter, the owner receives summands of the row.
/// Boolean masks of the two ranks select the rows and must agree. Without
/// masks, all rows move.
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
  /// collective. Always true without masks, because this object then stores no
  /// groups.
  bool areInOneGroup(int64_t rank, int64_t other) const {
    return masks.empty() || groupOfRank[rank] == groupOfRank[other];
  }

  /// Returns whether the collective moves an element between the ranks `owner`
  /// and `other`. The shard of `owner` contains the element. `ownerPlace` and
  /// `otherPlace` are row-major indices of the element in the tensors of these
  /// ranks. If the masks of the ranks disagree about the row of the element,
  /// stores a message in `fault`.
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

  /// Executes the collective. Entry r of the result is the tensor on rank r.
  /// Returns an error if no rank provides an element or a summand that a rank
  /// needs, or if the masks of two ranks contradict each other.
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
  /// of global indices per dim. A negative index is padding.
  static int64_t count(const LocalIndices &indices) {
    int64_t product = 1;
    for (const std::vector<int64_t> &dim : indices)
      product *= llvm::count_if(dim, [](int64_t index) { return index >= 0; });
    return product;
  }

  /// Returns the reductions that a tensor with the sharding `one` still needs,
  /// but a tensor with the sharding `other` does not. Leaves out the axis "mb",
  /// which counts microbatches, because no collective communicates along it.
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
  /// rank B. to[d][i] is a local index in the result on A, and from[d][i] is a
  /// local index in the operand on B. Both belong to the same global index of
  /// dim d. Example with one dim: the result on A has the global elements 4 to
  /// 7, and the operand on B has 6 to 9. The elements 6 and 7 are in both, so
  /// `to` is {{2, 3}} and `from` is {{0, 1}}.
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
  /// indices of the element: in the result, then in the operand.
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

  /// Returns the ranks from which `rank` may copy elements in a collective
  /// without a reduction, the nearest rank first. The distance of two ranks is
  /// the number of mesh axes along which their coordinates differ. `rank`
  /// itself comes first. The result lacks the ranks that hold another summand
  /// of the same sum. If the collective has masks, the result also lacks the
  /// ranks that do not communicate with `rank`.
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

  /// Computes the result on `rank` of a collective without a reduction, such as
  /// an all_gather. Copies each element from the nearest rank of sourcesOf()
  /// that holds it. In a Slice or Mask collective, copies only from the operand
  /// of `rank`. A Mask collective also calls mask(). If row masks exclude an
  /// element, the function does not copy the element, but still sets its flag
  /// in `filled` and subtracts it from `missing`.
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

  /// Completes the result of a Mask collective on `rank`. This collective turns
  /// a tensor that several ranks hold into summands: one rank keeps the tensor,
  /// and the other ranks get zeros. The tensor is kept by the rank with the
  /// coordinate 0 along the mesh axes of the sum. If the reduction is no sum,
  /// the other ranks get its neutral element instead of zeros, such as 1 for a
  /// product. Before the call, `result` must be the operand of `rank`.
  void mask(int64_t rank, HostTensor &result) {
    auto added = partialsOnlyIn(to, from);
    if (added.empty() ||
        dist::coordinateOf(axesOf(added), ranks.mesh, ranks.at(rank)) == 0)
      return;
    llvm::fill(result.floats, neutral<double>(added.front().kind));
    llvm::fill(result.ints, neutral<int64_t>(added.front().kind));
  }

  /// Computes the result of an all_reduce or reduce_scatter on `rank`. If row
  /// masks exclude a summand, 0 replaces it. Subtracts from `missing` the
  /// number of elements for which all ranks had a summand.
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
  /// State of the computation of the result on one rank. `missing` is the
  /// number of elements, without padding, that the operands have not provided
  /// yet. In a reduction, an element needs summands from all ranks that
  /// communicate. filled[i] is true if element i of the result, in row-major
  /// order, has been provided. Reductions do not use `filled`.
  int64_t missing = 0;
  std::vector<bool> filled;
};
} // namespace

StatusOr<std::vector<HostTensor>> interpret::evaluateCollective(
    dist::CollectiveOp op, const SimulatedRanks &ranks,
    ArrayRef<const HostTensor *> inputs, ArrayRef<RowMasks> masks) {
  return CollectiveRun(op, ranks, inputs, masks).run();
}
