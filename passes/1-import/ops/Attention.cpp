//===- Attention.cpp - import of attention and rotary embedding -----------===//
//
// Scaled dot-product attention (Vaswani et al. 2017) with grouped key heads
// (GQA, Ainslie et al. 2023), and rotary position embedding (RoFormer, Su et
// al. 2021). In shapes, B is the batch, S the number of queries, T the number
// of keys, and D the head size.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Splits the last dim of `x` into `heads` attention heads. If `x` has rank 3,
/// the shapes are:
///
///   `x`      [batch, sequence, heads · head size]
///   result   [batch, heads, sequence, head size]
///
/// Example: with 4 heads, the shape [2, 10, 32] becomes [2, 4, 10, 8]. If `x`
/// has rank 4, its heads are already in a separate dim, and the function
/// returns `x`.
static Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  if (n.failed() || shapeOf(x).size() == 4)
    return x;
  if (shapeOf(x).size() != 3 || heads < 1 || shapeOf(x)[2] % heads)
    return n.invalid("splits a tensor of rank " + Twine(shapeOf(x).size()) +
                     " into " + Twine(heads) + " heads");
  ArrayRef<int64_t> shape = shapeOf(x);
  Value apart = n.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return n.transpose(apart, {0, 2, 1, 3});
}

/// Merges the attention heads of `x` into the last dim. The shapes are:
///
///   `x`      [batch, heads, sequence, head size]
///   result   [batch, sequence, heads · head size]
///
/// Example: the shape [2, 4, 10, 8] becomes [2, 10, 32].
static Value joinHeads(NodeImport &n, Value x) {
  if (n.failed())
    return {};
  ArrayRef<int64_t> shape = shapeOf(x);
  return n.reshape(n.transpose(x, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * shape[3]});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Imports an Attention node of ONNX. The node usually becomes one op
/// `graph.attention`. The node becomes matmul and softmax ops instead if the
/// model uses output 3, which `graph.attention` does not compute. Output 3 is
/// the product of query and key, or a value computed from it.
class AttentionImport {
public:
  explicit AttentionImport(NodeImport &n) : n(n) {}

  /// Creates the ops for the Attention node, and defines these outputs of the
  /// node:
  ///
  ///   0   the result of the attention
  ///   1   all keys: the past keys (operand 4), then the keys of operand 1
  ///   2   all values: the past values (operand 5), then those of operand 2
  ///   3   the product of query and key, or a value that the attention computes
  ///       from this product; the method defines it only if the model uses it
  ///
  /// The method always returns null. A caller that receives a value defines
  /// output 0 as this value. Null means that output 0 is already defined, or
  /// that an error was recorded.
  Value run() {
    readOperands();
    if (n.failed())
      return {};
    readMask();
    Value result =
        n.isOutputUsed(3)
            ? writeOut()
            : n.make<AttentionOp>(query, key, value, OptionalOperand{mask},
                                  APFloat(scale), causal, APFloat(softcap));
    n.set(1, key);
    n.set(2, value);
    n.set(0, threeDims ? joinHeads(n, result) : result);
    return {};
  }

private:
  /// Sets all members except `n`, `mask` and `causal`. `query`, `key` and
  /// `value` get the shape [batch, heads, sequence, head size]. An operand of
  /// rank 3 is reshaped to this shape, and `threeDims` tells whether operand 0
  /// has rank 3. If the node has past keys (operand 4) and past values (operand
  /// 5), `key` and `value` begin with them along dim 2. `past` is the number of
  /// past keys. `scale` is the factor of query · keyᵀ, by default
  /// 1 / sqrt(head size). `softcap` limits the absolute value of
  /// scale · query · keyᵀ, and 0 means no limit.
  void readOperands() {
    query = n.operand(0);
    key = n.operand(1);
    value = n.operand(2);
    if (n.failed())
      return;
    threeDims = shapeOf(query).size() == 3;
    int64_t heads = n.integer("q_num_heads", 0),
            keyHeads = n.integer("kv_num_heads", heads);
    query = splitHeads(n, query, heads);
    key = splitHeads(n, key, keyHeads);
    value = splitHeads(n, value, keyHeads);
    if (n.failed())
      return;
    if (shapeOf(query).size() != 4 || shapeOf(key).size() != 4) {
      n.invalid("needs operands of 3 or 4 dims");
      return;
    }
    if (n.has(4) != n.has(5)) {
      n.invalid("has a past key or a past value, but not both");
      return;
    }
    if (n.has(4)) {
      past = shapeOf(n.operand(4)).size() == 4 ? shapeOf(n.operand(4))[2] : 0;
      key = n.concat({n.operand(4), key}, 2);
      value = n.concat({n.operand(5), value}, 2);
    }
    softcap = n.real("softcap", 0);
    scale =
        n.real("scale", 1 / std::sqrt(static_cast<double>(shapeOf(query)[3])));
  }

  /// Returns S, the number of queries.
  int64_t queries() const { return shapeOf(query)[2]; }
  /// Returns T, the number of keys, past keys included.
  int64_t keys() const { return shapeOf(key)[2]; }

  /// Sets `mask` and `causal`, which determine the keys that each query attends
  /// to. `mask` combines operand 3 (the mask), operand 6 (the number of valid
  /// keys of each sequence), left_window_size and right_window_size. S is the
  /// number of queries, and T is the number of keys, including P past keys.
  /// With is_causal, query i attends to the keys 0 to i + P in ONNX, but to the
  /// keys 0 to i + T - S in `graph.attention`. If P is not T - S, the method
  /// therefore adds ONNX's rule to `mask` and sets `causal` to false.
  void readMask() {
    if (n.failed())
      return;
    causal = n.integer("is_causal", 0);
    if (n.has(3))
      mask = paddedMask(n.operand(3));
    if (causal && keys() - queries() != past) {
      Value rows = n.iota({queries(), 1}, 0), columns = n.iota({1, keys()}, 1);
      causal = false;
      combine(n.compare(Predicate::LessOrEqual, columns,
                        n.add(rows, n.scalarLike(rows, past))));
    }
    addWindow("left_window_size", Predicate::GreaterOrEqual, -1);
    addWindow("right_window_size", Predicate::LessOrEqual, 1);
    if (n.has(6) && !n.failed()) {
      Value lengths = n.reshape(n.operand(6), {shapeOf(query)[0], 1, 1, 1});
      combine(n.compare(
          Predicate::Less, n.iota({1, 1, 1, keys()}, 3),
          n.failed() ? Value() : n.cast(lengths, n.getBuilder().getI64Type())));
    }
  }

  /// Restricts `mask` to keys near the query. The attribute `name` is the
  /// window size w. A query at position p attends only to the keys k for which
  /// the comparison `predicate` of k with p + sign · w is true. p is the index
  /// of the query plus the number of past keys. If w is negative, all keys stay
  /// visible.
  ///
  ///   `name`              `predicate`      `sign`   visible keys
  ///   left_window_size    GreaterOrEqual   -1       k >= p - w
  ///   right_window_size   LessOrEqual      1        k <= p + w
  void addWindow(StringRef name, Predicate predicate, int64_t sign) {
    int64_t size = std::min(n.integer(name, -1), maxElements);
    if (size < 0 || n.failed())
      return;
    Value rows = n.iota({queries(), 1}, 0), columns = n.iota({1, keys()}, 1);
    combine(n.compare(predicate, columns,
                      n.add(rows, n.scalarLike(rows, past + sign * size))));
  }

  /// Pads the last dim of the mask `given` to the number of keys. The added
  /// entries (false, or -infinity in a float mask) hide their keys.
  Value paddedMask(Value given) {
    if (n.failed() || shapeOf(given).empty())
      return given;
    int64_t missing = keys() - shapeOf(given).back();
    if (missing <= 0 || shapeOf(given).back() == 1)
      return given;
    SmallVector<int64_t> low(shapeOf(given).size(), 0), high = low;
    high.back() = missing;
    bool boolean = tensorType(given).getElementType().isInteger(1);
    Value fill = n.scalarLike(
        given, boolean ? 0 : -std::numeric_limits<double>::infinity());
    return n.make<PadOp>(PadMode::Constant, given, fill, low, high);
  }

  /// Changes the member `mask` so that a query does not attend to a key for
  /// which `visible` is false. `visible` is a boolean tensor that can be
  /// broadcast to the shape [batch, heads, queries, keys]. The keys that `mask`
  /// hides before the call stay hidden. There are three cases:
  ///
  ///   `mask` is null            `mask` becomes `visible`
  ///   `mask` is a bool tensor   `mask` becomes `mask` AND `visible`
  ///   `mask` is a float tensor  entries become -infinity where `visible` is
  ///                             false
  void combine(Value visible) {
    if (n.failed())
      return;
    if (!mask)
      mask = visible;
    else if (tensorType(mask).getElementType().isInteger(1))
      mask = n.logicalAnd(mask, visible);
    else
      mask = n.select(
          visible, mask,
          n.scalarLike(mask, -std::numeric_limits<double>::infinity()));
  }

  /// Returns `x` with each head repeated, so that the result has as many heads
  /// as the query. `x` is the key tensor or the value tensor. Dim 1 of `x` has
  /// one entry per head. Example: the query has 6 heads, and `x` has the heads
  /// h0 and h1. Then the result has the heads h0, h0, h0, h1, h1, h1.
  Value repeatHeads(Value x) {
    ArrayRef<int64_t> shape = shapeOf(x);
    int64_t times = shapeOf(query)[1] / std::max<int64_t>(1, shape[1]);
    if (times <= 1)
      return x;
    SmallVector<int64_t> apart{shape[0], shape[1], 1, shape[2], shape[3]},
        wide = apart, joined{shape[0], shape[1] * times, shape[2], shape[3]};
    wide[2] = times;
    return n.reshape(n.broadcast(n.reshape(x, apart), wide), joined);
  }

  /// Creates matmul and softmax ops that compute the attention in five steps:
  ///
  ///   0   x = scale · query · keyᵀ
  ///   1   y = softcap · tanh(x / softcap), or y = x if softcap is 0
  ///   2   z = y with the mask applied
  ///   3   p = softmax(z) along the keys
  ///   4   p · value
  ///
  /// Returns the result of step 4. Defines output 3 of the node as the result
  /// of one of the steps 0 to 3. The attribute qk_matmul_output_mode is the
  /// number of this step.
  Value writeOut() {
    if (causal) {
      Value rows = n.iota({queries(), 1}, 0), columns = n.iota({1, keys()}, 1);
      combine(n.compare(Predicate::LessOrEqual, columns,
                        n.add(rows, n.scalarLike(rows, past))));
    }
    Value steps[4];
    if (n.failed())
      return {};
    steps[0] = n.make<MatmulOp>(query, repeatHeads(key), false, true);
    steps[0] = n.mul(steps[0], n.scalarLike(steps[0], scale));
    steps[1] = steps[0];
    if (softcap > 0) {
      Value limit = n.scalarLike(steps[0], softcap);
      steps[1] = n.mul(n.make<TanhOp>(n.div(steps[0], limit)), limit);
    }
    steps[2] = applyMask(steps[1]);
    steps[3] = n.make<SoftmaxOp>(steps[2], uint64_t{3});
    int64_t wanted = n.integer("qk_matmul_output_mode", 0);
    if (wanted < 0 || wanted > 3)
      return n.invalid("qk_matmul_output_mode is " + Twine(wanted));
    n.set(3, steps[wanted]);
    if (n.failed())
      return {};
    return n.make<MatmulOp>(steps[3], repeatHeads(value), false, false);
  }

  /// Applies `mask` to the scores: where a boolean mask is false, scores become
  /// -infinity; a float mask is added.
  Value applyMask(Value scores) {
    if (!mask || n.failed())
      return scores;
    if (tensorType(mask).getElementType().isInteger(1))
      return n.select(
          mask, scores,
          n.scalarLike(scores, -std::numeric_limits<double>::infinity()));
    return n.add(scores, mask);
  }

  NodeImport &n;
  /// Query, key, value and attention mask. Query, key and value have rank 4.
  /// `mask` is null if every query attends to all keys.
  Value query, key, value, mask;
  /// `threeDims` tells whether operand 0 of the Attention node has rank 3.
  /// Operand 0 is the query tensor. If `threeDims` is false, operand 0 has rank
  /// 4.
  ///
  /// `causal` tells whether the attention is causal: the last query attends to
  /// all keys, the query before it to all keys but the last, and so on. S is
  /// the number of queries, and T is the number of keys. Query i then attends
  /// to the keys 0 to i + (T - S). Example: with 2 queries and 5 keys, query 0
  /// attends to the keys 0 to 3, and query 1 attends to the keys 0 to 4. The
  /// attention mask, which is the member `mask`, may hide some of these keys
  /// from a query.
  bool threeDims = false, causal = false;
  /// Number of past keys: the keys in operand 4, which come before the new
  /// keys.
  int64_t past = 0;
  double scale = 1, softcap = 0;
};
} // namespace

static Value attention(NodeImport &n) { return AttentionImport(n).run(); }

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Converts a table of cosines or sines to the form that `graph.rotary` reads.
/// `table` has the shape [batch, sequence, D/2] or [sequence, D/2], with one
/// number for each rotated pair of elements. The result has the shape
/// [batch, 1, sequence, D], and has the number of a pair at both of its
/// elements. Example for D = 4 and the numbers a and b:
///
///   `interleaved`   pairs of elements   numbers in the result
///   true            0 and 1, 2 and 3    a a b b
///   false           0 and 2, 1 and 3    a b a b
static Value rotaryTable(NodeImport &n, Value table, bool interleaved) {
  if (n.failed())
    return {};
  SmallVector<int64_t> shape(shapeOf(table));
  if (shape.size() == 2)
    shape.insert(shape.begin(), 1);
  int64_t half = shape[2];
  if (interleaved) {
    SmallVector<int64_t> apart{shape[0], 1, shape[1], half, 1}, wide = apart;
    wide[4] = 2;
    return n.reshape(n.broadcast(n.reshape(table, apart), wide),
                     {shape[0], 1, shape[1], 2 * half});
  }
  Value lined = n.reshape(table, {shape[0], 1, shape[1], half});
  return n.concat({lined, lined}, 3);
}

/// Applies rotary position embedding (RoPE) to the first `size` elements of the
/// last dim of `x`. The remaining elements of the dim stay unchanged. Size 0
/// stands for all elements. RoPE rotates each pair of elements by an angle.
/// `cos` and `sin` hold the cosines and sines of the angles. `interleaved`
/// tells which elements form a pair:
///
///   true    elements 2i and 2i + 1
///   false   elements i and i + size / 2
static Value rotate(NodeImport &n, Value x, Value cos, Value sin, int64_t size,
                    bool interleaved) {
  if (n.failed())
    return {};
  int64_t whole = shapeOf(x)[3];
  if (size == 0 || size == whole)
    return n.make<RotaryOp>(x, cos, sin, interleaved);
  if (size > whole)
    return n.invalid("rotates " + Twine(size) + " of " + Twine(whole) +
                     " elements");
  Value turned =
      n.make<RotaryOp>(n.sliceDim(x, 3, 0, size), cos, sin, interleaved);
  return n.concat({turned, n.sliceDim(x, 3, size, whole - size)}, 3);
}

/// Imports RotaryEmbedding. Operands 1 and 2 are tables of cosines and sines.
/// Operand 3, which may be absent, holds the position of each token. D is the
/// number of elements that are rotated. The shape of each table depends on
/// operand 3:
///
///   present   [positions, D/2]         row p of the table is for position p
///   absent    [batch, sequence, D/2]   one row for each token
///
/// If operand 3 is present, the import gathers the row of each token's position
/// first. The table then has the shape [batch, sequence, D/2].
static Value rotaryEmbedding(NodeImport &n) {
  Value x = n.operand(0), cos = n.operand(1), sin = n.operand(2);
  if (n.failed())
    return {};
  bool threeDims = shapeOf(x).size() == 3;
  bool interleaved = n.integer("interleaved", 0);
  x = splitHeads(n, x, n.integer("num_heads", 0));
  if (n.has(3)) {
    Value positions = n.operand(3);
    cos = n.make<GatherOp>(cos, positions, uint64_t{0});
    sin = n.make<GatherOp>(sin, positions, uint64_t{0});
  }
  if (n.failed())
    return {};
  if (shapeOf(cos).size() != 3 || shapeOf(sin).size() != 3)
    return n.invalid("has tables of rank " + Twine(shapeOf(cos).size()));
  Value result = rotate(n, x, rotaryTable(n, cos, interleaved),
                        rotaryTable(n, sin, interleaved),
                        n.integer("rotary_embedding_dim", 0), interleaved);
  return threeDims ? joinHeads(n, result) : result;
}

void addAttentionOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Attention", 23, 3, 7, attention},
      {"RotaryEmbedding", 23, 3, 4, rotaryEmbedding},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
