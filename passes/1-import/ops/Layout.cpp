//===- Layout.cpp - import of reshapes, transposes, concats and repeats ---===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Imports Transpose. Without the attribute `perm` the order of dims is
/// reversed.
static Value transpose(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> reversed =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, shapeOf(x).size())));
  const auto perm = n.integerList("perm").value_or(reversed);
  if (!std::is_permutation(perm.begin(), perm.end(), reversed.begin(),
                           reversed.end()))
    return n.invalid("attribute 'perm' is " + sizesText(perm) +
                     ", which is no order of the " +
                     counted(reversed.size(), "dim") +
                     " of a tensor of shape " + sizesText(shapeOf(x)));
  return n.transpose(x, perm);
}

/// Imports Reshape. Two sizes in the requested shape are special:
///
///   0    the operand's size at the same index, unless `allowzero` is set
///   -1   inferred from the number of elements; at most once
static Value reshape(NodeImport &n) {
  Value x = n.operand(0);
  auto asked = n.integersOf("shape", 1);
  if (!asked)
    return n.invalid("lacks a shape");
  bool allowZero = n.integer("allowzero", 0);
  if (n.failed())
    return {};
  SmallVector<int64_t> shape = *asked;
  int64_t known = 1, open = -1, count = tensorType(x).getNumElements();
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero && i < shapeOf(x).size())
      size = shapeOf(x)[i];
    if (size < -1 || (size == -1 && open >= 0))
      return n.invalid("reshapes to " + sizesText(*asked));
    if (size == -1)
      open = i;
    else
      known = saturatingProduct(known, size);
  }
  if (open >= 0)
    shape[open] = known == 0 ? 0 : count / known;
  if (!describeShapeError(shape).empty() ||
      ShapedType::getNumElements(shape) != count)
    return n.fail(n.mismatchExitCode, "reshapes " + sizesText(shapeOf(x)) +
                                          " to " + sizesText(*asked));
  return n.reshape(x, shape);
}

/// Imports Flatten, which reshapes the operand to a matrix. The attribute
/// `axis` is the index of a dim of the operand. All dims before this dim are
/// merged into dim 0 of the matrix. This dim and all dims after it are merged
/// into dim 1 of the matrix. Example: if the operand has the shape [2, 3, 4, 5]
/// and `axis` is 2, the result has the shape [6, 20].
static Value flatten(NodeImport &n) {
  Value x = n.operand(0);
  if (n.failed())
    return {};
  int64_t rank = shapeOf(x).size(), dim = n.integer("axis", 1);
  if (dim != rank)
    dim = n.normalizeDim(dim, rank);
  return n.reshape(x, {llvm::product_of(shapeOf(x).take_front(dim)),
                       llvm::product_of(shapeOf(x).drop_front(dim))});
}

/// Imports Squeeze, which removes the dims `axes`, all of size 1. If no axes
/// are given, all dims of size 1 are removed.
static Value squeeze(NodeImport &n) {
  Value x = n.operand(0);
  auto named = n.integersOf("axes", 1);
  if (n.failed())
    return {};
  SmallVector<int64_t> dims;
  if (named)
    dims = n.normalizeDims(*named, shapeOf(x).size());
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(shapeOf(x))) {
    bool dropped =
        named ? llvm::is_contained(dims, static_cast<int64_t>(i)) : size == 1;
    if (dropped && size != 1)
      return n.fail(n.mismatchExitCode, "drops dim " + Twine(i) + " of " +
                                            sizesText(shapeOf(x)) +
                                            ", but its size is not 1");
    if (!dropped)
      shape.push_back(size);
  }
  return n.reshape(x, shape);
}

/// Imports Unsqueeze, which inserts dims of size 1. `axes` are the indices of
/// these dims in the result.
static Value unsqueeze(NodeImport &n) {
  Value x = n.operand(0);
  auto named = n.integersOf("axes", 1);
  if (!named)
    return n.invalid("lacks its axes");
  if (n.failed())
    return {};
  int64_t rank = shapeOf(x).size() + named->size();
  if (rank > maxRank)
    return n.invalid("makes a tensor with " + counted(rank, "dim"));
  SmallVector<int64_t> dims = n.normalizeDims(*named, rank), shape;
  if (n.failed())
    return {};
  for (int64_t i = 0, next = 0; i < rank; ++i)
    shape.push_back(llvm::is_contained(dims, i) ? 1 : shapeOf(x)[next++]);
  return n.reshape(x, shape);
}

/// Imports Concat. Before opset 4 the attribute `axis` was optional, and 1 by
/// default.
static Value concat(NodeImport &n) {
  SmallVector<Value> inputs = n.operands();
  if (n.failed())
    return {};
  if (!n.hasAttribute("axis") && n.opset() >= 4)
    return n.invalid("lacks the attribute 'axis'");
  int64_t dim = n.dim("axis", 1, shapeOf(inputs[0]).size());
  // Remove operands of the shape [0], because they add no elements to the
  // result. Keep the last operand, because a concat needs at least one operand.
  if (shapeOf(inputs[0]).size() == 1 && inputs.size() > 1)
    llvm::erase_if(inputs, [&](Value input) {
      return input != inputs.back() && shapeOf(input) == ArrayRef<int64_t>{0};
    });
  return n.concat(inputs, dim);
}

/// Imports Expand, which broadcasts the operand. A requested size of 1 keeps
/// the operand's size.
static Value expand(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> asked = n.integers(1);
  if (n.failed())
    return {};
  auto shape = broadcastShapes(shapeOf(x), asked);
  if (mlir::failed(shape))
    return n.fail(n.mismatchExitCode, "expands " + sizesText(shapeOf(x)) +
                                          " to " + sizesText(asked));
  return n.broadcast(x, *shape);
}

/// Repeats `x` repeats[i] times along each dim i, by a reshape, a broadcast and
/// another reshape. For [a, b] repeated r and s times:
///
///   [a, b] -> [1, a, 1, b] -> [r, a, s, b] -> [r · a, s · b]
static Value repeat(NodeImport &n, Value x, ArrayRef<int64_t> repeats) {
  if (n.failed())
    return {};
  SmallVector<int64_t> apart, wide, shape;
  for (auto [size, times] : llvm::zip_equal(shapeOf(x), repeats)) {
    if (times != 1) {
      apart.push_back(1);
      wide.push_back(times);
    }
    apart.push_back(size);
    wide.push_back(size);
    shape.push_back(saturatingProduct(size, times));
  }
  return n.reshape(n.broadcast(n.reshape(x, apart), wide), shape);
}

/// Imports Tile, which repeats operand 0 along its dims. Operand 1 holds the
/// number of repeats of each dim. Before opset 6, operand 1 holds one number of
/// repeats, and operand 2 holds the index of the repeated dim.
static Value tile(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> repeats = n.integers(1);
  if (n.failed())
    return {};
  if (n.opset() < 6) {
    SmallVector<int64_t> axis = n.integers(2);
    if (n.failed() || axis.size() != 1 || repeats.size() != 1)
      return n.invalid("repeats along several dims, or along none");
    int64_t dim = n.normalizeDim(axis[0], shapeOf(x).size());
    if (n.failed())
      return {};
    int64_t times = repeats.front();
    repeats.assign(shapeOf(x).size(), 1);
    repeats[dim] = times;
  }
  if (repeats.size() != shapeOf(x).size() ||
      llvm::any_of(repeats, [](int64_t times) {
        return times < 0 || times >= INT32_MAX;
      }))
    return n.invalid("repeats " + sizesText(shapeOf(x)) + " by " +
                     sizesText(repeats));
  return repeat(n, x, repeats);
}

//===----------------------------------------------------------------------===//
// Exchange of spatial blocks and channels
//===----------------------------------------------------------------------===//

/// Returns the attribute blocksize, B, of a DepthToSpace or SpaceToDepth node
/// with the operand `x`. The sizes of the dims `dims` of `x` must be multiples
/// of B, or of B² if `squared` is true. Returns 0 after an error.
static int64_t blockSize(NodeImport &n, Value x, ArrayRef<int64_t> dims,
                         bool squared) {
  int64_t block = n.integer("blocksize", 0);
  if (n.failed())
    return 0;
  bool fits = block > 0 && block <= 1024 && shapeOf(x).size() == 4;
  for (int64_t dim : dims)
    fits = fits && shapeOf(x)[dim] % (squared ? block * block : block) == 0;
  if (!fits)
    n.invalid("has blocks of size " + Twine(block) + " in " +
              sizesText(shapeOf(x)));
  return fits ? block : 0;
}

/// Imports DepthToSpace with block size b: [N, C · b², H, W] becomes
/// [N, C, H · b, W · b]. Row r and column s of a block in channel c come from
/// channel (r · b + s) · C + c of the operand in the mode DCR, and from channel
/// (c · b + r) · b + s in the mode CRD.
static Value depthToSpace(NodeImport &n) {
  Value x = n.operand(0);
  int64_t b = blockSize(n, x, {1}, /*squared=*/true);
  if (!b)
    return {};
  int64_t batch = shapeOf(x)[0], c = shapeOf(x)[1] / (b * b), h = shapeOf(x)[2],
          w = shapeOf(x)[3];
  std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return n.invalid("mode is '" + mode + "', not DCR or CRD");
  Value apart = mode == "DCR"
                    ? n.transpose(n.reshape(x, {batch, b, b, c, h, w}),
                                  {0, 3, 4, 1, 5, 2})
                    : n.transpose(n.reshape(x, {batch, c, b, b, h, w}),
                                  {0, 1, 4, 2, 5, 3});
  return n.reshape(apart, {batch, c, h * b, w * b});
}

/// Imports SpaceToDepth with block size b: [N, C, H · b, W · b] becomes [N, b²
/// · C, H, W].
static Value spaceToDepth(NodeImport &n) {
  Value x = n.operand(0);
  int64_t b = blockSize(n, x, {2, 3}, /*squared=*/false);
  if (!b)
    return {};
  int64_t batch = shapeOf(x)[0], c = shapeOf(x)[1], h = shapeOf(x)[2] / b,
          w = shapeOf(x)[3] / b;
  Value apart =
      n.transpose(n.reshape(x, {batch, c, h, b, w, b}), {0, 3, 5, 1, 2, 4});
  return n.reshape(apart, {batch, saturatingProduct(c, b * b), h, w});
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// Imports Trilu, which keeps the upper or lower triangle of matrices and sets
/// all other elements to 0. Compares row and column indices to find the
/// triangle, because a constant mask could be large.
static Value trilu(NodeImport &n) {
  Value x = n.operand(0);
  SmallVector<int64_t> k = n.has(1) ? n.integers(1) : SmallVector<int64_t>{0};
  if (n.failed())
    return {};
  if (shapeOf(x).size() < 2 || k.size() != 1)
    return n.invalid("takes a triangle of " + sizesText(shapeOf(x)));
  ArrayRef<int64_t> last = shapeOf(x).take_back(2);
  int64_t diagonal = std::clamp(k[0], -maxElements, maxElements);
  Value rows = n.iota({last[0], 1}, 0), columns = n.iota({1, last[1]}, 1);
  Value kept = n.compare(n.integer("upper", 1) ? Predicate::GreaterOrEqual
                                               : Predicate::LessOrEqual,
                         columns, n.add(rows, n.scalarLike(rows, diagonal)));
  return n.select(kept, x, n.scalarLike(x, 0));
}

void addLayoutOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Transpose", 1, 1, 1, transpose},
      {"Reshape", 1, 1, 2, reshape},
      {"Flatten", 1, 1, 1, flatten},
      {"Squeeze", 1, 1, 2, squeeze},
      {"Unsqueeze", 1, 1, 2, unsqueeze},
      {"Concat", 1, 1, anyNumber, concat},
      {"Expand", 8, 2, 2, expand},
      {"Tile", 1, 3, 3, tile},
      {"Tile", 6, 2, 2, tile},
      {"DepthToSpace", 1, 1, 1, depthToSpace},
      {"SpaceToDepth", 1, 1, 1, spaceToDepth},
      {"Trilu", 14, 1, 2, trilu},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
