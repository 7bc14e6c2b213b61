//===- ReshardPieces.cpp - source rank and box of each piece of a shard ---===//
#include "passes/plan/reshard/ReshardMove.h"

using namespace pcc::dist;

namespace pcc::plan {

/// Changes `where`, the coordinates of a rank, so that its coordinate along the
/// sub-axis `digit` is `value`. One step along the sub-axis is `minor` steps
/// along the mesh axis.
static void setDigit(const SubAxis &digit, int64_t value, const Mesh &mesh,
                     Coordinates &where) {
  int index = mesh.indexOf(digit.axis);
  int64_t minor = mesh.axes[index].size / digit.end();
  where[index] += (value - coordinateOf(digit, mesh, where)) * minor;
}

/// Returns the coordinates of the rank that sends part parts[d] of each dim d
/// (numbered under `from`) to the rank at `where`. The sender differs from the
/// receiver only along digits (common sub-axes) that split `from`.
///
/// In a permutation, each sender must serve one receiver only. Therefore the
/// sender also differs along the digits that only `to` uses: they take the
/// values that the receiver has along the digits that only `from` uses.
Coordinates Movement::sourceOf(CollectiveKind kind,
                               const std::vector<int64_t> &parts,
                               const Mesh &mesh,
                               const Coordinates &where) const {
  Coordinates source = where;
  bool own = true;
  std::vector<int> onlyFrom, onlyTo;
  for (size_t d = 0; d < dims.size(); ++d) {
    const DimSide &side = dims[d].from;
    for (int i : side.digits) {
      setDigit(digits[i], parts[d] / side.strideOf[i] % digits[i].size, mesh,
               source);
      if (toDim[i] < 0)
        onlyFrom.push_back(i);
    }
    for (int i : dims[d].to.digits)
      if (fromDim[i] < 0)
        onlyTo.push_back(i);
    own &= parts[d] == coordinateOf(from.dims[d].axes(), mesh, where);
  }
  if (kind != CollectiveKind::Permute || own)
    return source;
  int64_t number = 0;
  for (int i : onlyFrom)
    number = number * digits[i].size + coordinateOf(digits[i], mesh, where);
  for (size_t k = onlyTo.size(); k-- > 0; number /= digits[onlyTo[k]].size)
    setDigit(digits[onlyTo[k]], number % digits[onlyTo[k]].size, mesh, source);
  return source;
}

/// Returns the coordinates `where` without the coordinate of the time axis (the
/// microbatch).
static Coordinates spatialPart(const Coordinates &where, const Mesh &mesh) {
  Coordinates result;
  for (size_t i = 0; i < where.size(); ++i)
    if (mesh.axes[i].name != timeAxis)
      result.push_back(where[i]);
  return result;
}

std::vector<ReshardPiece> Movement::pieces(CollectiveKind kind,
                                           const Mesh &mesh,
                                           const Coordinates &where) {
  Mesh spatial = mesh.spatial();
  // A box over the first dims of the tensor. parts[d] is the index of a part of
  // `from` in dim d. box[d] holds the indices that this part shares with the
  // part of `to` that the rank at `where` wants.
  struct PartialBox {
    std::vector<int64_t> parts;
    std::vector<Runs> box;
  };
  std::vector<PartialBox> boxes = {{}};
  for (size_t d = 0; d < dims.size(); ++d) {
    const Runs &wanted =
        dims[d].to.runs[coordinateOf(to.dims[d].axes(), mesh, where)];
    std::vector<PartialBox> longer;
    for (size_t f = 0; f < dims[d].from.runs.size(); ++f) {
      Runs common = intersect(wanted, dims[d].from.runs[f]);
      for (const PartialBox &box :
           common.empty() ? std::vector<PartialBox>{} : boxes) {
        longer.push_back(box);
        longer.back().parts.push_back(static_cast<int64_t>(f));
        longer.back().box.push_back(common);
      }
    }
    boxes = std::move(longer);
  }
  std::vector<ReshardPiece> result;
  for (PartialBox &box : boxes)
    result.push_back({spatial.rankOf(spatialPart(
                          sourceOf(kind, box.parts, mesh, where), mesh)),
                      std::move(box.box)});
  return result;
}

std::vector<ReshardPiece> piecesOf(const ReshardStep &step, const Shape &shape,
                                   const Mesh &mesh, const Coordinates &where) {
  Movement movement(step.before, step.after, shape);
  return movement.aligned() ? movement.pieces(step.kind, mesh, where)
                            : std::vector<ReshardPiece>{};
}

} // namespace pcc::plan
