//===- Resampling.cpp - interpolation weights of resize -------------------===//
//
// Every mode of resize is separable. Along each dim, an element of the result
// is a weighted sum of a few operand elements, which are called taps.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/ops/Resampling.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Sizes and scale of one dim of a resize op. `from` is the size of the dim in
/// the operand, and `to` is the size of the dim in the result. `scale` is the
/// scale of the dim in ONNX's Resize. `scale` may differ from `to` / `from`,
/// because `to` is an integer. For example, `from` is 4 and `scale` is 0.6.
/// ONNX rounds the product 2.4 down, so `to` is 2, and `to` / `from` is 0.5.
struct ResizedDim {
  int64_t from, to;
  double scale;
};
} // namespace

/// Returns the operand index that a resize samples for element `i` of the
/// result. It may be fractional, such as 1.25. `coordinates` is a coordinate
/// transformation mode of ONNX's Resize.
static double sourceOf(StringRef coordinates, int64_t i, ResizedDim dim) {
  double centre = (i + 0.5) / dim.scale - 0.5;
  if (coordinates == "asymmetric")
    return i / dim.scale;
  if (coordinates == "align_corners")
    return dim.to == 1 ? 0 : double(i) * (dim.from - 1) / (dim.to - 1);
  if (coordinates == "pytorch_half_pixel")
    return dim.to == 1 ? 0 : centre;
  if (coordinates == "half_pixel_symmetric")
    return dim.from / 2.0 * (1 - dim.to / (dim.scale * dim.from)) + centre;
  return centre;
}

/// Rounds `place`, a fractional operand index, to an integer. A resize in mode
/// nearest takes the operand element at the rounded index. `rounding` is the
/// attribute nearest_mode of ONNX's Resize. For `place` 1.5, the results are
///
///   floor 1, ceil 2, round_prefer_floor 1, round_prefer_ceil 2
static double rounded(StringRef rounding, double place) {
  if (rounding == "floor")
    return std::floor(place);
  if (rounding == "ceil")
    return std::ceil(place);
  return rounding == "round_prefer_ceil" ? std::floor(place + 0.5)
                                         : std::ceil(place - 0.5);
}

/// Returns the weight of one operand element in a cubic interpolation (Keys
/// 1981). The interpolation computes a value at a point between the operand
/// elements. `distance` is the distance between the operand element and the
/// point, in elements. `a` is the attribute cubic_coeff_a of ONNX's Resize. For
/// every `a`, the weight is 1 at distance 0, and the weight is 0 at distance 1
/// and at each distance from 2 on.
static double cubicWeight(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Returns the indices and weights of the operand elements from which the
/// resize `op` interpolates at `place`, a fractional index along one dim. An
/// index may lie outside the operand.
static Taps unboundedTaps(ResizeOp op, double place) {
  int64_t base = static_cast<int64_t>(std::floor(place));
  double rest = place - base;
  if (op.getMode() == ResizeMode::Nearest)
    return {{static_cast<int64_t>(rounded(op.getRounding(), place)), 1}};
  if (op.getMode() == ResizeMode::Linear)
    return {{base, 1 - rest}, {base + 1, rest}};
  double a = op.getCubic().convertToDouble();
  Taps taps;
  for (int64_t i = -1; i <= 2; ++i)
    taps.push_back({base + i, cubicWeight(i - rest, a)});
  return taps;
}

static ResizedDim resizedDim(ResizeOp op, int64_t dim) {
  return {tensorType(op.getInput()).getDimSize(dim),
          tensorType(op.getResult()).getDimSize(dim), op.getScales()[dim]};
}

bool pcc::graph::isResized(ResizeOp op, int64_t dim) {
  ResizedDim sizes = resizedDim(op, dim);
  return sizes.from != sizes.to || sizes.scale != 1;
}

Taps pcc::graph::tapsOf(ResizeOp op, int64_t number, int64_t i) {
  ResizedDim dim = resizedDim(op, number);
  Taps taps = unboundedTaps(op, sourceOf(op.getCoordinates(), i, dim));
  double sum = 0;
  for (Tap &tap : taps) {
    bool outside = tap.index < 0 || tap.index >= dim.from;
    tap.index = std::clamp<int64_t>(tap.index, 0, dim.from - 1);
    if (outside && op.getExcludeOutside())
      tap.weight = 0;
    sum += tap.weight;
  }
  if (op.getExcludeOutside())
    for (Tap &tap : taps)
      tap.weight /= sum;
  return taps;
}
