//===- ReshardMove.h - Movements of shards, by index sets -----------------===//
//
// Internal to the reshard planner. `from` and `to` split one tensor into
// disjoint parts, each held by the ranks of one class: the ranks with equal
// coordinates along the axes that split it. What a rank lacks of its part of
// `to` is then the disjoint union of boxes, one per class of `from`.
//
// Where `to` sees a dim through a view, its indices are those of the view, on
// both sides: a part of `from` is the indices whose elements it holds.
//
// Axes are cut into *digits*, the coarsest sub-axes such that every axis of
// both shardings is a list of them. Each digit splits at most one dim of `from`
// and one of `to`.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
#define PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H

#include "passes/plan/reshard/Reshard.h"

#include <optional>

namespace pcc::plan {

/// The digits of a list of sub-axes, by axis name, then major to minor; nothing
/// if two do not align.
std::optional<dist::SubAxes> digitsOf(const dist::SubAxes &axes);

/// `a` without the digits of `b`; nothing if they do not align.
std::optional<dist::SubAxes> subtract(const dist::SubAxes &a,
                                      const dist::SubAxes &b);

/// `axes` in the order of the mesh, neighbours merged.
dist::SubAxes inMeshOrder(dist::SubAxes axes, const dist::Mesh &mesh);

class Movement {
public:
  /// Both canonical and valid; partials are not looked at.
  Movement(const dist::Sharding &from, const dist::Sharding &to,
           const dist::Shape &shape);

  /// False if sub-axes of the two do not align; then nothing below may be
  /// called.
  bool aligned() const { return isAligned; }

  /// max over ranks of |out| - |out in|.
  int64_t lowerBound();

  /// The digits along which some rank needs something from another one;
  /// replicas are taken along no other.
  std::vector<int> communicated();

  /// The one collective that does all of this movement, given the digits from
  /// `communicated`.
  ReshardStepKind classify(const std::vector<int> &group);

  /// The sub-axes over which the step runs.
  dist::SubAxes groupAxes(ReshardStepKind kind,
                          const std::vector<int> &group) const;

  /// The pieces of the part of `to` at `where`; see piecesOf.
  std::vector<ReshardPiece> pieces(ReshardStepKind kind, const dist::Mesh &mesh,
                                   const dist::Coordinates &where);

private:
  /// One side of one dim: its digits, major first, and the runs of each
  /// position (the digits as one number).
  struct DimSide {
    std::vector<int> digits;
    std::vector<dist::Runs> runs;
    std::vector<int64_t> strideOf;
  };
  struct MovedDim {
    bool changed = false;
    int64_t largestPart = 0;
    DimSide from, to;
    /// overlaps[t * from parts + f] = |to part t, from part f|, -1 where not
    /// yet known.
    std::vector<int64_t> overlaps;
  };

  DimSide makeSide(const dist::DimSharding &dim, int64_t size) const;
  static void seeThrough(const dist::View &view, int64_t size, MovedDim &dim);
  int64_t overlapOf(MovedDim &dim, int64_t to, int64_t from);
  int64_t missingAt(const std::vector<int64_t> &digit);
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
  std::vector<bool> membership(const std::vector<int> &group) const;

  bool isAligned = false;
  dist::Sharding from, to;
  dist::SubAxes digits;
  /// The dim that a digit splits, or -1.
  std::vector<int> fromDim, toDim;
  std::vector<MovedDim> dims;
};

/// The cheapest movement between shardings with equal partials; plan.error
/// where there is none.
ReshardPlan planMovement(const dist::Sharding &from, const dist::Sharding &to,
                         const dist::Shape &shape, int64_t elementBytes,
                         const dist::Mesh &mesh, const Prices &prices);

/// Appends one step and its price.
void append(ReshardPlan &plan, ReshardStep step, const Prices &prices);

/// Appends all steps of another plan, and its error.
void append(ReshardPlan &plan, const ReshardPlan &more);

/// The operand on one rank.
int64_t localBytes(const dist::Sharding &sharding, const dist::Shape &shape,
                   int64_t elementBytes);

/// Possible before impossible, then seconds, then calls.
bool isCheaper(const ReshardPlan &a, const ReshardPlan &b);

/// Every rank already holds its part of `to`.
bool isFree(const dist::Sharding &from, const dist::Sharding &to,
            const dist::Shape &shape);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARDMOVE_H
