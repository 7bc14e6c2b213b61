//===- ReshardMove.h - movements of shards as index sets per dim ----------===//
//
// Internal to the reshard planner. Each of the shardings `from` and `to` splits
// one tensor into disjoint parts. The ranks with equal coordinates along the
// splitting axes are replicas: they hold the same part. The elements that a
// rank lacks of its part of `to` are the disjoint union of boxes, one per part
// of `from`.
//
// If `to` sees a dim through a view, the indices of that dim are those of the
// view, for both shardings: a part of `from` is then the set of view indices
// whose elements it holds.
//
// Axes are cut into *digits*: the coarsest sub-axes of which every axis of both
// shardings is a list. Each digit splits at most one dim of `from` and at most
// one dim of `to`. Example: an axis x of size 4 splits dim 0 of `from`; `to`
// splits dim 0 over x:(1)2 and dim 1 over x:(2)2. The digits are x:(1)2 and
// x:(2)2. Sub-axes that have no common digits, such as halves and thirds of an
// axis of 6, do not *align*.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H

#include "passes/plan/reshard/Reshard.h"

#include <optional>

namespace pcc::plan {

/// Cuts sub-axes (parts of mesh axes) into digits: disjoint sub-axes, as large
/// as possible, such that each given sub-axis is a sequence of them. The result
/// is sorted by axis name, then from major to minor. Example for an axis x of
/// size 4 and its major half:
///
///   x, x:(1)2   ->   x:(1)2, x:(2)2
///
/// Returns std::nullopt if sub-axes do not align, such as halves and thirds of
/// an axis of 6.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// Returns the parts of the sub-axes `a` that `b` does not cover, neighbors
/// merged. Example for an axis x of size 4 and its major half:
///
///   x minus x:(1)2   ->   x:(2)2
///
/// Returns std::nullopt if sub-axes do not align, such as halves and thirds of
/// an axis of 6.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns the sub-axes (parts of mesh axes) in mesh order, with adjacent parts
/// of one axis merged.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// A movement of the elements of one tensor from sharding `from` to sharding
/// `to`. Computes with digits: disjoint sub-axes, as large as possible, such
/// that each sub-axis of both shardings is a sequence of them. Does not
/// enumerate the ranks of the mesh.
class Movement {
public:
  /// Prepares the movement of a tensor whose dims have the sizes `shape`. Both
  /// shardings must be valid for `shape` and in the form that dist::canonical
  /// returns. Ignores the partial axes of both shardings. Ranks along a partial
  /// axis hold tensors that still need a reduction, such as a sum.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns whether the sub-axes of both shardings align, unlike halves and
  /// thirds of an axis of 6. If not, no other member may be called.
  bool aligned() const { return isAligned; }

  /// Returns the largest number of elements that a rank needs under `to` and
  /// does not hold under `from`. In every plan, this rank receives at least as
  /// many.
  int64_t lowerBound();

  /// Returns the digits (common sub-axes of both shardings) along which ranks
  /// exchange elements, as indices into `digits`.
  std::vector<int> communicated();

  /// Returns the kind of collective that performs the whole movement in a
  /// single step. `group` is the result of `communicated`.
  dist::CollectiveKind classify(const std::vector<int> &group);

  /// Returns the sub-axes (parts of mesh axes) along which ranks communicate if
  /// one collective of `kind` performs the whole movement. `group` is the list
  /// of sub-axes that `communicated` returns, as indices into `digits`. Each of
  /// them splits a dim under `from`. The result contains all sub-axes in
  /// `group`. For a permutation, the result also contains each sub-axis that
  /// splits a dim only under `to`. For example, a permutation from [x] to [y]
  /// has the result {x, y}.
  dist::SubAxes groupAxes(dist::CollectiveKind kind,
                          const std::vector<int> &group) const;

private:
  /// The split of one dim into parts, under `from` or under `to`. A rank's
  /// coordinates along the digits (common sub-axes of both shardings) give its
  /// part:
  ///
  ///   digits of sizes 2 and 3, coordinates 1 and 2   ->   part 1 * 3 + 2 = 5
  struct DimSide {
    /// Digits that split the dim, major first, as indices into
    /// Movement::digits.
    std::vector<int> digits;
    /// runs[p]: the indices of the dim in part p, as ranges [lo, hi).
    std::vector<dist::Runs> runs;
    /// For each digit (common sub-axis): difference of the part numbers of two
    /// ranks whose coordinates along it differ by 1. It is 0 if the digit does
    /// not split the dim. For example, digits of sizes 2 and 3 have the strides
    /// 3 and 1.
    std::vector<int64_t> strideOf;
  };
  /// One dim of the tensor: its split under `from` and its split under `to`.
  struct MovedDim {
    /// Whether `from` and `to` split the dim differently, or `to` reads the dim
    /// through a view (a window with halos).
    bool changed = false;
    /// Number of indices, padding included, in the largest part under `to`.
    int64_t largestPart = 0;
    DimSide from, to;
    /// overlaps[t * from.runs.size() + f]: number of indices that part t under
    /// `to` and part f under `from` share; -1 if not yet computed.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  /// Returns the number of indices of `dim` that two parts share: part `to` of
  /// the target sharding and part `from` of the source sharding.
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
  /// Returns whether ranks exchange elements along `digit` (index of a common
  /// sub-axis of both shardings).
  bool isCommunicated(int digit);
  bool positionsDiffer(MovedDim &dim, int digit);
  std::vector<bool> valuesOf(const DimSide &side, int digit) const;
  bool isGather(const std::vector<bool> &inGroup) const;
  bool isAllToAll(const std::vector<bool> &inGroup) const;
  bool isPermute() const;
  bool isRotation();
  dist::Coordinates sourceOf(dist::CollectiveKind kind,
                             const std::vector<int64_t> &parts,
                             const dist::Mesh &mesh,
                             const dist::Coordinates &where) const;
  /// Converts a list of digits (common sub-axes) to flags: element i is true if
  /// `group` contains i.
  std::vector<bool> membership(const std::vector<int> &group) const;

  bool isAligned = false;
  dist::Sharding from, to;
  /// Sub-axes (parts of mesh axes) that do not overlap, called digits. Each
  /// sub-axis that splits a dim under `from` or `to` consists of one or more
  /// adjacent digits. The digits are as large as possible. For example, let the
  /// mesh axis x have size 4. If `from` splits a dim over x, and `to` splits a
  /// dim over the major half of x, the digits are the major half x:(1)2 and the
  /// minor half x:(2)2. Other members refer to a digit by its index in this
  /// list.
  dist::SubAxes digits;
  /// For each digit (common sub-axis): the dim that it splits under `from`, and
  /// under `to`; -1 if none.
  std::vector<int> fromDim, toDim;
  std::vector<MovedDim> dims;
};

/// Returns the cheapest plan between two shardings with equal partial axes,
/// without a reduction. Sets `error` of the result if there is none.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends one step to a plan and adds its call, bytes and price.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends the steps of `more` to `plan` and adds calls, bytes and prices.
/// Takes over the error of `more` if `plan` has none.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// Returns the bytes of the largest shard that a rank has, padding included.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Returns whether plan `a` is better than plan `b`. An error is worst; then
/// fewer seconds are better, then fewer calls.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Returns whether a slice without communication changes `from` to `to`: every
/// rank already holds its elements under `to`.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
