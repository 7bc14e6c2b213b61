//===- Attention.cpp - import of attention and rotary embedding -----------===//
//
// Scaled dot-product attention (Vaswani et al. 2017) with grouped key heads
// (GQA, Ainslie et al. 2023), and rotary position embedding (RoFormer, Su et
// al. 2021). In shapes, B is the batch, S the number of queries, T the number
// of keys, and D the head size.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Splits the last dim of `x` into `heads` attention heads:
/// [batch, sequence, heads · head size] becomes
/// [batch, heads, sequence, head size]. Returns `x` unchanged if it has rank 4.
static Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  if (n.failed() || shapeOf(x).size() == 4)
    return x;
  if (shapeOf(x).size() != 3 || heads < 1 || shapeOf(x)[2] % heads)
    return n.invalid("splits a tensor of rank " + Twine(shapeOf(x).size()) +
                     " into " + counted(heads, "head"));
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

  /// Creates the ops for the Attention node and defines its outputs: the result
  /// (0), all keys (1) and all values (2). Past keys and past values come
  /// before new ones. Defines output 3 (see writeOut()) only if the model uses
  /// it. Always returns null, because output 0 is already defined.
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
  /// `value` get the shape [batch, heads, sequence, head size]. Past keys
  /// (operand 4) and past values (operand 5) are put in front along dim 2.
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
  /// to. `mask` combines the mask (operand 3), the number of valid keys of each
  /// sequence (operand 6), and the window sizes.
  void readMask() {
    if (n.failed())
      return;
    causal = n.integer("is_causal", 0);
    if (n.has(3))
      mask = paddedMask(n.operand(3));
    // With is_causal, query i attends to the keys 0 to i + past in ONNX, but to
    // the keys 0 to i + keys() - queries() in `graph.attention`. If these
    // differ, `mask` must express the rule of ONNX.
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
  /// window size w; a negative w hides no keys. The query of token p attends
  /// only to keys k for which `predicate` of k and p + sign · w is true. For
  /// the left window, this means k ≥ p − w. Both p and k are token indices that
  /// count from the first past key.
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

  /// Changes `mask` so that it also hides the keys for which the boolean tensor
  /// `visible` is false. `visible` must be broadcastable to [batch, heads,
  /// queries, keys]. In a float mask, the element of a hidden key is -infinity.
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
  /// as the query. `x` is the key tensor or the value tensor, and its dim 1
  /// counts heads. Example: the query has 6 heads, and `x` has the heads h0 and
  /// h1. Then the result has the heads h0, h0, h0, h1, h1, h1.
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

  /// Creates matmul and softmax ops that compute the attention, and returns its
  /// result. Defines output 3 as the scores that qk_matmul_output_mode selects:
  /// scaled (0), limited by softcap (1), masked (2), or after the softmax (3).
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
  /// `threeDims` tells whether the query tensor, operand 0, has rank 3 instead
  /// of 4. If `causal` is true, query i attends only to the keys 0 to i +
  /// keys() - queries(), without those keys that `mask` hides.
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

/// Converts a table of cosines or sines from [batch, sequence, D/2] or
/// [sequence, D/2] to [batch, 1, sequence, D], as `graph.rotary` expects. Each
/// number stands for a pair of elements and is repeated at both: a b becomes a
/// a b b if `interleaved` is true, otherwise a b a b.
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
/// last dim of `x`; 0 means all. RoPE rotates the elements 2i and 2i + 1 as a
/// pair if `interleaved` is true. Otherwise it rotates i and i + size / 2.
static Value rotate(NodeImport &n, Value x, Value cos, Value sin, int64_t size,
                    bool interleaved) {
  if (n.failed())
    return {};
  int64_t whole = shapeOf(x)[3];
  if (size == 0 || size == whole)
    return n.make<RotaryOp>(x, cos, sin, interleaved);
  if (size > whole)
    return n.invalid("rotates " + Twine(size) + " of " +
                     counted(whole, "element"));
  Value turned =
      n.make<RotaryOp>(n.sliceDim(x, 3, 0, size), cos, sin, interleaved);
  return n.concat({turned, n.sliceDim(x, 3, size, whole - size)}, 3);
}

/// Imports RotaryEmbedding. Operands 1 and 2 are tables of cosines and sines
/// with one row per token, [batch, sequence, D/2]. If operand 3 (the number of
/// each token in its sequence) is present, the tables have one row per token
/// number, [numbers, D/2].
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
