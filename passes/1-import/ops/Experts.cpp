//===- Experts.cpp - import of the mixture of experts of com.microsoft ----===//
//
// Mixture of experts with top-k gating (Shazeer et al. 2017), expanded in dense
// form: every expert computes every token, and a gate of 0 discards the result
// of an expert that was not chosen. Phase 4-shard decides which ranks compute
// which experts. The pass group-experts then skips the products with a gate of
// 0.
//
//===----------------------------------------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "status/Counted.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

namespace {
/// Layout of the two weight matrices of a gated linear unit (attribute
/// swiglu_fusion). Apart: two operands. Interleaved: one operand with alternate
/// rows. Halves: one operand with one matrix after the other.
enum Fusion { Apart, Interleaved, Halves };

/// Imports one MoE (mixture of experts) node as matmul, activation and gating
/// ops.
class MoeExpansion {
public:
  explicit MoeExpansion(NodeImport &n) : n(n) {}

  /// Creates the ops for the MoE (mixture of experts) node, and returns its
  /// result, or null after an error. The result is the sum over all experts of
  /// gate · (act(x · fc1ᵀ + b1) · fc2ᵀ + b2). gates() computes `gate`.
  Value run() {
    if (!read())
      return {};
    Value hidden = activation();
    Value outputs = linear(hidden, 4, 5, size, inner);
    if (n.failed())
      return {};
    Value sum = n.make<EinsumOp>("te,etd->td", ValueRange{gates(), outputs});
    return n.reshape(sum, shape);
  }

private:
  /// Sets all data members of this class except `n`. The values come from the
  /// attributes and the operands of the MoE node. If the node is invalid or
  /// unsupported, the method records an error and returns false.
  bool read() {
    if (n.integer("use_sparse_mixer", 0))
      n.unsupported("routes by a sparse mixer (use_sparse_mixer is 1)");
    name = n.text("activation_type", "relu");
    if (!llvm::is_contained({"relu", "gelu", "silu", "swiglu", "identity"},
                            name))
      n.unsupported("activation_type is '" + name +
                    "', not relu, gelu, silu, swiglu or identity");
    fusion = n.integer("swiglu_fusion", 0);
    if (fusion < Apart || fusion > Halves)
      n.unsupported("swiglu_fusion is " + Twine(fusion) + ", not 0, 1 or 2");
    if (name != "swiglu")
      fusion = Apart;
    return !n.failed() && readSizes() && !n.failed();
  }

  /// Sets the sizes from operand 0 ([tokens, size] or [batch, sequence, size]),
  /// operand 1 ([tokens, experts]) and operand 4 ([experts, size, inner]). Also
  /// sets `k`, `shape` and `input`. Returns false after an error.
  bool readSizes() {
    if (!n.has(4))
      return n.invalid("lacks operand 4"), false;
    Value x = n.operand(0), router = n.operand(1), second = n.operand(4);
    if (n.failed())
      return false;
    shape.assign(shapeOf(x).begin(), shapeOf(x).end());
    if (shape.size() < 2 || shape.size() > 3 || shapeOf(router).size() != 2 ||
        shapeOf(second).size() != 3)
      return n.invalid("needs an input of 2 or 3 dims, a router of 2 and "
                       "weights of 3"),
             false;
    size = shape.back();
    tokens = saturatingProduct(shape.front(), shape.size() == 3 ? shape[1] : 1);
    experts = shapeOf(router)[1];
    inner = shapeOf(second)[2];
    k = n.integer("k", 1);
    if (k < 1 || k > experts)
      return n.invalid("chooses " + Twine(k) + " of " +
                       counted(experts, "expert")),
             false;
    x = n.reshape(x, {tokens, size});
    input = n.reshape(x, {1, tokens, size});
    return expect(1, {tokens, experts}) && checkGate();
  }

  /// Checks operand 6 of a node with the activation swiglu. If `fusion` is
  /// Apart, operand 6 must be present, because it holds the second weight
  /// matrix. Otherwise operand 6 must be absent. Returns false after an error.
  bool checkGate() {
    if (name == "swiglu" && n.has(6) == (fusion != Apart))
      n.invalid(fusion == Apart
                    ? "has activation_type swiglu, swiglu_fusion 0 and no "
                      "fc3_experts_weights"
                    : "has fc3_experts_weights although swiglu_fusion is " +
                          Twine(fusion));
    return !n.failed();
  }

  /// Checks that operand number `operand` has the shape `sizes`. Returns false
  /// after an error.
  bool expect(size_t operand, ArrayRef<int64_t> sizes) {
    Value value = n.operand(operand);
    if (!n.failed() && shapeOf(value) != sizes)
      n.fail(n.mismatchExitCode, "has operand " + Twine(operand) +
                                     " of shape " + sizesText(shapeOf(value)) +
                                     ", not " + sizesText(sizes));
    return !n.failed();
  }

  /// Creates one linear layer of every expert, x · wᵀ + b, with a result of the
  /// shape [experts, tokens, to]. `x` is [experts, tokens, from], or [1,
  /// tokens, from] if all experts share it. `weight` and `bias` are the numbers
  /// of two operands of the node: w has the shape [experts, to, from], and b
  /// has the shape [experts, to]. If the node has no operand number `bias`, b
  /// is 0.
  Value linear(Value x, size_t weight, size_t bias, int64_t to, int64_t from) {
    if (n.failed() || !expect(weight, {experts, to, from}))
      return {};
    Value y = n.make<MatmulOp>(x, n.operand(weight), false, true);
    if (!n.has(bias) || !expect(bias, {experts, to}))
      return y;
    return n.add(y, n.reshape(n.operand(bias), {experts, 1, to}));
  }

  Value swish(Value x, double alpha) {
    Value scaled = alpha == 1 ? x : n.mul(x, n.scalarLike(x, alpha));
    return n.mul(x, n.make<SigmoidOp>(scaled));
  }

  /// Returns the result of the activation function of the node for the operand
  /// `x`. The activation function is relu, gelu, silu or identity. It must not
  /// be swiglu, which has two operands; the method gatedUnit computes swiglu.
  Value activate(Value x) {
    if (name == "relu")
      return n.make<ReluOp>(x);
    if (name == "gelu")
      return n.make<GeluOp>(x, /*tanh=*/true);
    return name == "silu" ? swish(x, 1) : x;
  }

  /// Creates the activation SwiGLU (Shazeer 2020) of the gate `g` and the
  /// linear factor `l`: g · sigmoid(alpha · g) · (l + beta). The attribute
  /// swiglu_limit limits `g` from above, and `l` from above and below.
  Value gatedUnit(Value g, Value l) {
    if (n.hasAttribute("swiglu_limit")) {
      double limit = n.real("swiglu_limit", 0);
      g = n.make<MinOp>(g, n.scalarLike(g, limit));
      l = n.make<MinOp>(l, n.scalarLike(l, limit));
      l = n.make<MaxOp>(l, n.scalarLike(l, -limit));
    }
    double beta = n.real("activation_beta", 0);
    if (beta != 0)
      l = n.add(l, n.scalarLike(l, beta));
    return n.mul(swish(g, n.real("activation_alpha", 1)), l);
  }

  /// Returns one operand of a gated linear unit: the gate (`index` 0) or the
  /// linear factor (`index` 1). The result has the shape [experts, tokens,
  /// inner]. Dim `dim` of `both` has size 2 and holds the gate before the
  /// linear factor.
  Value part(Value both, int64_t dim, int64_t index) {
    return n.reshape(n.sliceDim(both, dim, index, 1), {experts, tokens, inner});
  }

  /// Returns the output of the first layer of all experts, after the
  /// activation. Its shape is [experts, tokens, inner], where `inner` is the
  /// layer's width.
  Value activation() {
    if (fusion != Apart) {
      Value both = linear(input, 2, 3, 2 * inner, size);
      const int64_t dim = fusion == Interleaved ? 3 : 2;
      SmallVector<int64_t> parts{experts, tokens, inner};
      parts.insert(parts.begin() + dim, 2);
      both = n.reshape(both, parts);
      return gatedUnit(part(both, dim, 0), part(both, dim, 1));
    }
    Value first = linear(input, 2, 3, inner, size);
    if (!n.has(6))
      return activate(first);
    Value third = linear(input, 6, 7, inner, size);
    return name == "swiglu" ? gatedUnit(first, third)
                            : n.mul(activate(first), third);
  }

  /// Returns the gates, of the shape [tokens, experts]. The gates of a token
  /// are the k highest probabilities in the softmax of operand 1, and 0 for all
  /// other experts. If normalize_routing_weights is 1, the gates of each token
  /// are divided by their sum.
  Value gates() {
    Value chance = n.make<SoftmaxOp>(n.operand(1), uint64_t(1));
    auto [values, places] = n.topK(chance, k, 1, /*largest=*/true);
    if (n.failed())
      return {};
    if (n.integer("normalize_routing_weights", 0))
      values = n.div(values, n.reduce(ReduceKind::Sum, values, {1}, true));
    Value none = n.full(tensorType(chance), 0);
    return n.make<ScatterElementsOp>(ScatterKind::Set, none, places, values,
                                     uint64_t(1));
  }

  NodeImport &n;
  /// Name of the activation: the attribute activation_type.
  std::string name;
  int64_t fusion = Apart;
  /// Shape of operand 0 of the MoE node, which contains the tokens. The result
  /// of the node has the same shape.
  SmallVector<int64_t> shape;
  int64_t size = 0, tokens = 0, experts = 0, inner = 0, k = 1;
  Value input; ///< [1, tokens, size]
};
} // namespace

static Value moe(NodeImport &n) { return MoeExpansion(n).run(); }

void addExpertOps(OpTable &table) {
  static constexpr OpForm microsoft[] = {
      {"MoE", 1, 3, 8, moe},
  };
  table.add("com.microsoft", microsoft);
}

} // namespace pcc::onnx_import
