//===- Slices.cpp - import of slices, splits and padding ------------------===//

#include "passes/1-import/build/OpTable.h"
#include "runtime/base/QuantityText.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

namespace {
/// A slice of one dim: `count` elements at the indices start, start + step,
/// start + 2 · step, …. The step may be negative.
struct DimSlice {
  int64_t start, count, step;
};
} // namespace

/// Converts the NumPy slice start:end:step of a dim with `size` elements.
/// Negative bounds count from the end, and bounds out of range are clamped. For
/// a dim of 5 elements, -2:100:1 becomes start 3, count 2, step 1.
static DimSlice clampRange(int64_t start, int64_t end, int64_t step,
                           int64_t size) {
  bool forward = step > 0;
  int64_t lowest = forward ? 0 : -1, highest = forward ? size : size - 1;
  auto clamp = [&](int64_t place, int64_t least) {
    if (place < 0)
      place += size;
    return std::clamp<int64_t>(place, least, std::max(least, highest));
  };
  start = clamp(start, 0);
  end = clamp(end, lowest);
  int64_t room = forward ? end - start : start - end,
          stride = forward ? step : -step;
  int64_t count = room <= 0 ? 0 : (room - 1) / stride + 1;
  return {count ? start : 0, count, step};
}

/// Imports Slice. Before opset 10, the starts and the ends were attributes and
/// not operands.
static Value slice(NodeImport &n) {
  Value x = n.operand(0);
  auto starts = n.integersOf("starts", 1), ends = n.integersOf("ends", 2),
       axes = n.integersOf("axes", 3), steps = n.integersOf("steps", 4);
  if (n.failed())
    return {};
  if (!starts || !ends || starts->size() != ends->size())
    return n.invalid("has starts and ends of different lengths");
  int64_t rank = shapeOf(x).size();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  if (!steps)
    steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size())
    return n.invalid("has starts, axes and steps of different lengths");
  SmallVector<int64_t> from(rank, 0), sizes(shapeOf(x)), by(rank, 1);
  for (auto [start, end, axis, step] :
       llvm::zip_equal(*starts, *ends, *axes, *steps)) {
    int64_t dim = n.normalizeDim(axis, rank);
    if (n.failed() || step == 0 || step == INT64_MIN)
      return n.invalid("has a step of " + Twine(step));
    DimSlice range = clampRange(start, end, step, shapeOf(x)[dim]);
    from[dim] = range.start;
    sizes[dim] = range.count;
    by[dim] = range.count > 1 ? range.step : 1;
  }
  return n.make<SliceOp>(x, from, sizes, by);
}

/// Returns the sizes of the parts of a Split that does not give them: each part
/// has the size of the split dim, `whole`, divided by the number of parts,
/// rounded up; the last parts may be smaller. Before opset 18, all parts are
/// equal. Records an error in `n` if the node asks for something else.
static SmallVector<int64_t> evenParts(NodeImport &n, int64_t whole) {
  const auto parts = static_cast<int64_t>(n.node.outputs.size());
  const int64_t asked = n.integer("num_outputs", parts);
  if (asked != parts)
    n.invalid("has " + runtime::countText(parts, "output") +
              ", but num_outputs is " + Twine(asked));
  else if (n.opset() < 18 && parts > 0 && whole % parts != 0)
    n.fail(n.mismatchExitCode, "splits " + counted(whole, "element") +
                                   " into " + counted(parts, "part") +
                                   ", which cannot be equal");
  const int64_t each = parts > 0 ? llvm::divideCeil(whole, parts) : 0;
  SmallVector<int64_t> sizes;
  for (int64_t i = 0, left = whole; i < parts; ++i, left -= each)
    sizes.push_back(std::clamp<int64_t>(left, 0, each));
  return sizes;
}

/// Imports Split. Before opset 13, the sizes of the parts were an attribute.
static Value split(NodeImport &n) {
  Value x = n.operand(0);
  const int64_t dim = n.dim("axis", 0, shapeOf(x).size());
  auto sizes = n.integersOf("split", 1);
  if (n.failed())
    return {};
  const int64_t whole = shapeOf(x)[dim];
  if (sizes && n.hasAttribute("num_outputs"))
    return n.invalid("gives both the sizes of the parts and num_outputs");
  if (!sizes)
    sizes = evenParts(n, whole);
  if (n.failed())
    return {};
  if (sizes->size() != n.node.outputs.size())
    return n.invalid("has " +
                     runtime::countText(n.node.outputs.size(), "output") +
                     ", but splits into parts of " + sizesText(*sizes));
  int64_t start = 0, sum = 0;
  const bool fits = llvm::all_of(*sizes, [&](int64_t size) {
    return size >= 0 && !llvm::AddOverflow(sum, size, sum);
  });
  if (!fits || sum != whole)
    return n.fail(n.mismatchExitCode,
                  "splits " + counted(whole, "element") + " into parts of " +
                      sizesText(*sizes) + ", which do not add up");
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    if (n.isOutputUsed(i))
      n.set(i, n.sliceDim(x, dim, start, size));
    start += size;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Converts `word` to a PadMode. `word` is the value of the attribute `mode` of
/// ONNX's op Pad: "constant", "edge", "reflect" or "wrap". Returns nullopt for
/// any other `word`.
static std::optional<PadMode> padMode(StringRef word) {
  return llvm::StringSwitch<std::optional<PadMode>>(word)
      .Case("constant", PadMode::Constant)
      .Case("edge", PadMode::Edge)
      .Case("reflect", PadMode::Reflect)
      .Case("wrap", PadMode::Wrap)
      .Default(std::nullopt);
}

/// Imports Pad. Before opset 11, the pads and the fill value were attributes
/// and not operands.
static Value pad(NodeImport &n) {
  Value x = n.operand(0);
  auto pads = n.integersOf(n.opset() < 2 ? "paddings" : "pads", 1);
  auto axes = n.has(3) ? std::optional(n.integers(3)) : std::nullopt;
  auto mode = padMode(n.text("mode", "constant"));
  if (n.failed())
    return {};
  int64_t rank = shapeOf(x).size();
  if (!axes)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!mode)
    return n.invalid("mode is '" + n.text("mode", "") + "'");
  if (!pads || pads->size() != 2 * axes->size())
    return n.invalid("needs " + runtime::countText(2 * axes->size(), "pad") +
                     ", got " + (pads ? sizesText(*pads) : "none"));
  if (llvm::any_of(*pads, [](int64_t count) {
        return count > INT32_MAX || count < INT32_MIN;
      }))
    return n.invalid("has a pad of more than 2^31 elements");
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    int64_t dim = n.normalizeDim(axis, rank);
    if (n.failed())
      return {};
    low[dim] = (*pads)[i];
    high[dim] = (*pads)[i + axes->size()];
    const int64_t taken =
        std::max<int64_t>(0, -low[dim]) + std::max<int64_t>(0, -high[dim]);
    if (taken > shapeOf(x)[dim])
      return n.fail(n.mismatchExitCode,
                    "has pads of " + Twine(low[dim]) + " and " +
                        Twine(high[dim]) + ", which take more than the " +
                        counted(shapeOf(x)[dim], "element") + " of dim " +
                        Twine(dim));
  }
  Value fill;
  if (*mode == PadMode::Constant)
    fill = n.has(2) ? n.reshape(n.operand(2), {})
                    : n.scalarLike(x, n.real("value", 0));
  return n.make<PadOp>(*mode, x, OptionalOperand{fill}, low, high);
}

void addSliceOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Slice", 1, 1, 5, slice},
      {"Split", 1, 1, 2, split},
      {"Pad", 1, 1, 4, pad},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
