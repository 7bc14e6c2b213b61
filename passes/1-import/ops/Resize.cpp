//===- Resize.cpp - import of Resize and Upsample -------------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Returns the ResizeMode for ONNX's attribute value `word`; nothing if pcc
/// lacks that mode.
static std::optional<ResizeMode> resizeMode(StringRef word) {
  return llvm::StringSwitch<std::optional<ResizeMode>>(word)
      .Case("nearest", ResizeMode::Nearest)
      .Cases({"linear", "bilinear"}, ResizeMode::Linear)
      .Case("cubic", ResizeMode::Cubic)
      .Default(std::nullopt);
}

namespace {
/// Scales and result sizes of a resize. Entry i of each list belongs to dim i
/// of the resized tensor. `scales` holds the factor by which each dim grows.
/// `shape` holds the number of elements of each dim of the result. This number
/// is an integer: a dim of 5 elements with the scale 1.5 gets 7 elements, not
/// 7.5.
struct Resolution {
  SmallVector<double> scales;
  SmallVector<int64_t> shape;
};
} // namespace

/// Stores `scales` in `to`, and computes the result sizes. Entry j of `scales`
/// is the scale of the dim axes[j]. At the call, `to.shape` holds the sizes of
/// the operand. For each dim in `axes`, the function multiplies this size by
/// the scale and rounds the product down. A size of 5 and a scale of 1.5 give
/// 7. The function does not change the entries of other dims.
static void applyScales(NodeImport &n, Resolution &to, ArrayRef<double> scales,
                        ArrayRef<int64_t> axes) {
  for (auto [dim, scale] : llvm::zip_equal(axes, scales)) {
    if (!(scale > 0 && scale * to.shape[dim] < INT32_MAX)) {
      n.invalid("has a scale that is not positive or too large");
      return;
    }
    to.scales[dim] = scale;
    // Multiply the size of the operand by the scale in f32. The scales in an
    // ONNX file are f32 numbers, so a product in f64 may give another size.
    // Example: the size is 10 and the scale is 0.7. The f32 number that is
    // nearest to 0.7 is 0.69999999. In f32, the product of 10 and this number
    // is rounded to 7, and the result has 7 elements. In f64, the product is
    // 6.9999999, which is rounded down to 6.
    to.shape[dim] = static_cast<int64_t>(std::floor(
        static_cast<float>(to.shape[dim]) * static_cast<float>(scale)));
  }
}

/// Computes the new sizes and the scales of the dims `axes`, and stores them in
/// `to`. At the call, `to.shape` holds the old sizes. Entry j of `sizes` is the
/// requested size of dim axes[j]. keep_aspect_ratio_policy may require one
/// common scale for all these dims.
static void applySizes(NodeImport &n, Resolution &to, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> axes) {
  std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" &&
      policy != "not_smaller") {
    n.invalid("keep_aspect_ratio_policy is '" + policy + "'");
    return;
  }
  std::optional<double> factor;
  for (auto [dim, size] : llvm::zip_equal(axes, sizes)) {
    double scale = static_cast<double>(size) / to.shape[dim];
    if (!factor || (policy == "not_larger" ? scale < *factor : scale > *factor))
      factor = scale;
  }
  for (auto [dim, size] : llvm::zip_equal(axes, sizes)) {
    double before = to.shape[dim];
    to.shape[dim] = policy == "stretch"
                        ? size
                        : truncated(std::floor(*factor * before + 0.5));
    to.scales[dim] = policy == "stretch" ? size / before : *factor;
  }
}

/// Returns the scale and the new size of each dim of `x`, the tensor that the
/// node resizes. The attribute `axes` lists the dims to resize, by default all.
/// Operand number `scalesAt` has one scale for each of these dims, or operand
/// number `sizesAt` has one size for each. Other dims keep their size, with
/// scale 1. If both operands fit, the function uses the scales. If neither
/// operand has the right number of entries, the function records an error.
static Resolution readResolution(NodeImport &n, Value x, size_t scalesAt,
                                 size_t sizesAt) {
  Resolution to;
  to.shape = SmallVector<int64_t>(shapeOf(x));
  to.scales.assign(to.shape.size(), 1);
  int64_t rank = to.shape.size();
  auto named = n.integerList("axes");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (named) {
    axes.clear();
    for (int64_t axis : *named)
      axes.push_back(n.normalizeDim(axis, rank));
  }
  SmallVector<double> scales =
      n.has(scalesAt) ? n.doubles(scalesAt) : SmallVector<double>();
  SmallVector<int64_t> sizes =
      n.has(sizesAt) ? n.integers(sizesAt) : SmallVector<int64_t>();
  if (n.failed())
    return to;
  if (scales.size() == axes.size())
    applyScales(n, to, scales, axes);
  else if (sizes.size() == axes.size())
    applySizes(n, to, sizes, axes);
  else
    n.invalid("needs a scale or a size for each of " +
              counted(axes.size(), "dim"));
  return to;
}

/// Creates the op graph.resize, which resizes the tensor `x`. `to` holds the
/// scales and the result sizes. `coordinates` is a value of ONNX's attribute
/// coordinate_transformation_mode, such as half_pixel. `rounding` is a value of
/// ONNX's attribute nearest_mode, such as floor. The node's attribute `mode`
/// determines the interpolation, such as linear.
static Value emitResize(NodeImport &n, Value x, const Resolution &to,
                        StringRef coordinates, StringRef rounding) {
  auto mode = resizeMode(n.text("mode", "nearest"));
  if (n.failed())
    return {};
  if (!mode)
    return n.invalid("mode is '" + n.text("mode", "") + "'");
  return n.makeTyped<ResizeOp>(tensorType(x).clone(to.shape), *mode, x,
                               to.scales, coordinates, rounding,
                               APFloat(n.real("cubic_coeff_a", -0.75)),
                               n.integer("exclude_outside", 0) != 0);
}

/// Imports Upsample, and Resize of opset 10. Both ops compute element i of the
/// result, along a dim, from the operand at the coordinate i / scale. For
/// example, element 3 with the scale 2 has the coordinate 1.5. With the mode
/// nearest, the coordinate is rounded down, and element 3 of the result is
/// element 1 of the operand. The scales are in the attribute `scales`, or in
/// operand 1 if the node does not have this attribute.
static Value resize10(NodeImport &n) {
  Value x = n.operand(0);
  Resolution to;
  if (n.hasAttribute("scales")) {
    to.shape = SmallVector<int64_t>(shapeOf(x));
    to.scales.assign(to.shape.size(), 1);
    auto scales = n.realList("scales");
    if (!scales || scales->size() != to.shape.size())
      return n.invalid("needs a scale for each dim");
    applyScales(n, to, *scales,
                llvm::to_vector(llvm::seq<int64_t>(0, to.shape.size())));
  } else {
    to = readResolution(n, x, 1, anyNumber);
  }
  return emitResize(n, x, to, "asymmetric", "floor");
}

/// Imports Resize since opset 11. Cropping, antialiasing and the coordinate
/// mode tf_half_pixel_for_nn are unsupported.
static Value resize(NodeImport &n) {
  Value x = n.operand(0);
  std::string coordinates =
      n.text("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize")
    return n.unsupported("crops (coordinate_transformation_mode is "
                         "tf_crop_and_resize)");
  if (coordinates == "tf_half_pixel_for_nn")
    return n.unsupported("uses coordinate_transformation_mode "
                         "tf_half_pixel_for_nn");
  if (n.integer("antialias", 0))
    return n.unsupported("filters before it samples (antialias is 1)");
  return emitResize(n, x, readResolution(n, x, 2, 3), coordinates,
                    n.text("nearest_mode", "round_prefer_floor"));
}

void addResizeOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Resize", 10, 2, 2, resize10},
      {"Resize", 11, 1, 4, resize},
      {"Upsample", 7, 1, 2, resize10},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
