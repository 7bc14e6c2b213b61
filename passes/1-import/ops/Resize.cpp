//===- Resize.cpp - import of Resize and Upsample -------------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "passes/1-import/build/OpTable.h"
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
/// The scale and the rounded result size of each dim of the operand.
struct Resolution {
  SmallVector<double> scales;
  SmallVector<int64_t> shape;
};
} // namespace

/// Sets the scales of the dims `axes`, and their result sizes from the scales.
/// All other dims keep their size.
static void applyScales(NodeImport &n, Resolution &to, ArrayRef<double> scales,
                        ArrayRef<int64_t> axes) {
  for (auto [dim, scale] : llvm::zip_equal(axes, scales)) {
    if (!(scale > 0 && scale * to.shape[dim] < INT32_MAX)) {
      n.invalid("has a scale that is not positive or too large");
      return;
    }
    to.scales[dim] = scale;
    // Multiply in f32, ONNX's type of scales, to get the same rounding.
    to.shape[dim] = static_cast<int64_t>(std::floor(
        static_cast<float>(to.shape[dim]) * static_cast<float>(scale)));
  }
}

/// Sets the result sizes and the scales of the dims `axes` from the requested
/// `sizes`. The attribute keep_aspect_ratio_policy selects the scales:
///
///   stretch       each dim has its own scale
///   not_larger    all dims have the smallest of the scales
///   not_smaller   all dims have the largest of the scales
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

/// Reads the requested scales (operand number `scalesAt`) or sizes (`sizesAt`)
/// for the operand `x`. One of the two operands must be present.
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
    n.invalid("needs a scale or a size for each of " + Twine(axes.size()) +
              " dims");
  return to;
}

/// Creates the `graph.resize`. `coordinates` and `rounding` are the values of
/// ONNX's coordinate_transformation_mode and nearest_mode.
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

/// Imports Resize of opset 10, and Upsample. Output index i reads the input at
/// the coordinate i / scale. In opset 7 the scales are an attribute.
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
