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

/// Returns the digits of a list of sub-axes, sorted by axis name, then major to
/// minor; std::nullopt if two sub-axes do not align.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// Returns the digits of `a` that are not in `b`, with neighbours merged;
/// std::nullopt if the sub-axes do not align.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// Returns `axes` in the order of the mesh, with neighbours merged.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

/// A movement of the elements of one tensor from sharding `from` to sharding
/// `to`. All answers are computed from digits and parts per dim, without
/// enumerating the ranks of the mesh.
class Movement {
public:
  /// Both shardings must be canonical and valid for `shape`. Their partial axes
  /// are ignored.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// Returns false if sub-axes of the two shardings do not align. No other
  /// member may be called then.
  bool aligned() const { return isAligned; }

  /// Returns the largest number of elements of its part of `to` that any rank
  /// lacks: max over ranks of |out| - |out in|.
  int64_t lowerBound();

  /// Returns the digits along which some rank needs elements from another rank.
  /// A rank takes elements only from ranks that differ from it along these
  /// digits.
  std::vector<int> communicated();

  /// Returns the kind of the single step that performs the whole movement.
  /// `group` is the result of `communicated`.
  ReshardStepKind classify(const std::vector<int> &group);

  /// Returns the sub-axes over which a step of `kind` communicates.
  dist::SubAxes groupAxes(ReshardStepKind kind,
                          const std::vector<int> &group) const;

  /// Returns the pieces of which the rank at `where` assembles its part of `to`
  /// in a step of `kind`; see piecesOf.
  std::vector<ReshardPiece> pieces(ReshardStepKind kind, const dist::Mesh &mesh,
                                   const dist::Coordinates &where);

private:
  /// The split of one dim under one of the shardings. The values of the dim's
  /// digits, major first, form one number: the position of a part.
  struct DimSide {
    /// Digits that split the dim, major first.
    std::vector<int> digits;
    /// Indices of each part, by position.
    std::vector<dist::Runs> runs;
    /// By digit: distance of positions when the digit advances by one; 0 for
    /// digits that do not split the dim.
    std::vector<int64_t> strideOf;
  };
  /// One dim under both shardings.
  struct MovedDim {
    /// Whether the shardings of the dim differ or `to` has a view of it.
    bool changed = false;
    /// Local size of the largest part of `to`.
    int64_t largestPart = 0;
    DimSide from, to;
    /// overlaps[t * from parts + f] = number of indices that part t of `to` and
    /// part f of `from` share; -1 if it has not been computed.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  /// Returns the number of indices that part `to` and part `from` share.
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
  /// Returns whether some rank needs elements from a rank with another value of
  /// `digit`.
  bool isCommunicated(int digit);
  bool positionsDiffer(MovedDim &dim, int digit);
  std::vector<bool> valuesOf(const DimSide &side, int digit) const;
  bool isGather(const std::vector<bool> &inGroup) const;
  bool isAllToAll(const std::vector<bool> &inGroup) const;
  bool isPermute() const;
  bool isRotation();
  dist::Coordinates sourceOf(ReshardStepKind kind,
                             const std::vector<int64_t> &parts,
                             const dist::Mesh &mesh,
                             const dist::Coordinates &where) const;
  /// Returns, by digit, whether it is in `group`.
  std::vector<bool> membership(const std::vector<int> &group) const;

  bool isAligned = false;
  dist::Sharding from, to;
  /// All digits of both shardings. Elsewhere a digit is an index into this
  /// list.
  dist::SubAxes digits;
  /// By digit: the dim that it splits in `from` and in `to`; -1 if none.
  std::vector<int> fromDim, toDim;
  std::vector<MovedDim> dims;
};

/// Returns the cheapest plan between two shardings with equal partial axes. If
/// there is none, `error` of the plan is set.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends one step to a plan and adds its price.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends all steps of the plan `more`, with its price. The first error of the
/// two plans stays.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// Returns the bytes of the shard of one rank, padding included.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Returns whether plan `a` is better than plan `b`: possible plans come before
/// impossible ones, then fewer seconds, then fewer calls.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Returns whether every rank holds its part of `to` already under `from`, so
/// that a slice is enough.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
