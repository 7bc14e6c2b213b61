//===- TransformerGraph.cpp - graph of a transformer without a file -------===//

#include "passes/1-import/transformer/TransformerGraph.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/SignatureAttrs.h"
#include "dialects/graph/reference/Fold.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/1-import/build/Emitter.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace pcc;
using onnx_import::Emitter;

namespace {
/// Base of the periods of rotary positions (Su et al. 2021).
constexpr double rotaryBase = 10000;
constexpr double normEpsilon = 1e-5;

/// Builds the ops of @main, layer by layer. Each method that takes a `name`
/// makes the ops of one node of that name.
class TransformerGraph {
public:
  TransformerGraph(const TransformerSpec &spec, int64_t batch, ModuleOp module)
      : spec(spec), batch(batch), module(module), builder(module.getContext()),
        f32(builder.getF32Type()) {}

  void build() {
    makeFunction();
    if (spec.isGated)
      makeRotation();
    Value x = embed(function.getArgument(0));
    for (int64_t layer = 0; layer < spec.layers; ++layer)
      x = makeLayer("layers." + std::to_string(layer), x);
    x = norm("norm", x);
    Value logits =
        spec.isTied
            ? at("head").make<graph::MatmulOp>(
                  x, read(at("head"), "embedding.weight", embeddingShape()),
                  false, true)
            : linear("head", x, spec.hidden, spec.vocab, false);
    finish(logits);
  }

private:
  /// Returns a builder of the ops of the node `name`.
  Emitter at(const std::string &name) {
    return {builder, NameLoc::get(builder.getStringAttr(name))};
  }

  RankedTensorType typeOf(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, f32);
  }

  SmallVector<int64_t> embeddingShape() const {
    return {spec.vocab, spec.hidden};
  }

  void makeFunction() {
    auto ids = RankedTensorType::get({batch, spec.seq}, builder.getI64Type());
    builder.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(builder, module.getLoc(), "main",
                                    builder.getFunctionType({ids}, {}));
    Block *body = function.addEntryBlock();
    auto name = builder.getStringAttr("input_ids");
    body->getArgument(0).setLoc(NameLoc::get(name));
    graph::SignatureAttrs attributes(function);
    attributes.setArg(0, graph::nameName, name);
    attributes.setArg(0, graph::dimsName,
                      builder.getStrArrayAttr({"batch", "seq"}));
    attributes.write();
    builder.setInsertionPointToEnd(body);
  }

  void finish(Value logits) {
    func::ReturnOp::create(builder, module.getLoc(), logits);
    function.setFunctionType(builder.getFunctionType(
        function.getArgumentTypes(), {logits.getType()}));
    graph::SignatureAttrs attributes(function);
    attributes.setResult(0, graph::nameName, builder.getStringAttr("logits"));
    attributes.write();
  }

  /// Reads the weight `name` for a node. Declares the weight when it is read
  /// for the first time.
  Value read(Emitter node, const std::string &name, ArrayRef<int64_t> shape) {
    const RankedTensorType type = typeOf(shape);
    if (declared.insert(name).second) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(function);
      const int64_t bytes = type.getNumElements() * int64_t(sizeof(float));
      graph::ParameterOp::create(
          builder, node.getLoc(), builder.getStringAttr(name), type,
          graph::WeightAttr::get(builder.getContext(),
                                 builder.getStringAttr(""), 0, bytes, type,
                                 {}));
    }
    return node.makeTyped<graph::GetParameterOp>(type, name);
  }

  /// Multiplies the last dim of `x` by a weight of the shape [from, to]. Adds a
  /// bias if `hasBias` is true.
  Value linear(const std::string &name, Value x, int64_t from, int64_t to,
               bool hasBias) {
    Value y = at(name).make<graph::MatmulOp>(
        x, read(at(name), name + ".weight", {from, to}), false, false);
    return hasBias ? at(name).add(y, read(at(name), name + ".bias", {to})) : y;
  }

  Value linear(const std::string &name, Value x, int64_t from, int64_t to) {
    return linear(name, x, from, to, /*hasBias=*/!spec.isGated);
  }

  Value norm(const std::string &name, Value x) {
    Value scale = read(at(name), name + ".weight", {spec.hidden});
    const auto last = builder.getI64IntegerAttr(2);
    const auto epsilon = builder.getF64FloatAttr(normEpsilon);
    if (spec.isGated)
      return at(name).make<graph::RmsNormOp>(x, scale, last, epsilon);
    return at(name).make<graph::LayerNormOp>(
        x, scale, read(at(name), name + ".bias", {spec.hidden}), last, epsilon);
  }

  /// Returns the vectors of the tokens `ids`, of the shape [batch, seq,
  /// hidden].
  Value embed(Value ids) {
    Value x =
        at("embedding")
            .make<graph::GatherOp>(
                read(at("embedding"), "embedding.weight", embeddingShape()),
                ids, uint64_t(0));
    if (spec.isGated)
      return x;
    return at("positions")
        .add(x, read(at("positions"), "positions.weight",
                     {spec.seq, spec.hidden}));
  }

  /// Sets `cosines` and `sines`, of the shape [1, 1, seq, headDim].
  void makeRotation() {
    Emitter node = at("rotary");
    SmallVector<float> frequencies;
    for (int64_t i = 0; i < spec.headDim / 2; ++i)
      frequencies.push_back(static_cast<float>(
          std::pow(rotaryBase, -2.0 * static_cast<double>(i) /
                                   static_cast<double>(spec.headDim))));
    Value frequency = node.constant(DenseElementsAttr::get(
        typeOf({spec.headDim / 2}), ArrayRef<float>(frequencies)));
    Value position = node.cast(node.iota({1, 1, spec.seq, 1}, 2), f32);
    Value half = node.mul(position, frequency);
    Value angle = node.concat({half, half}, 3);
    cosines = node.make<graph::CosOp>(angle);
    sines = node.make<graph::SinOp>(angle);
  }

  /// Returns the heads of a product of `x`, of the shape [batch, heads, seq,
  /// headDim].
  Value heads(const std::string &name, Value x, int64_t count) {
    Value all = linear(name, x, spec.hidden, count * spec.headDim);
    Emitter node = at(name);
    Value split = node.reshape(all, {batch, spec.seq, count, spec.headDim});
    return node.transpose(split, {0, 2, 1, 3});
  }

  Value rotate(const std::string &name, Value x) {
    return spec.isGated ? at(name).make<graph::RotaryOp>(x, cosines, sines,
                                                         /*interleaved=*/false)
                        : x;
  }

  Value attend(const std::string &name, Value x) {
    Value query =
              rotate(name + ".query", heads(name + ".query", x, spec.heads)),
          key = rotate(name + ".key", heads(name + ".key", x, spec.kvHeads)),
          value = heads(name + ".value", x, spec.kvHeads);
    Emitter node = at(name);
    Value result = node.make<graph::AttentionOp>(
        query, key, value, onnx_import::OptionalOperand{},
        builder.getF64FloatAttr(1 / std::sqrt(double(spec.headDim))),
        builder.getUnitAttr(), builder.getF64FloatAttr(0));
    const int64_t width = spec.heads * spec.headDim;
    result = node.reshape(node.transpose(result, {0, 2, 1, 3}),
                          {batch, spec.seq, width});
    return linear(name + ".output", result, width, spec.hidden);
  }

  /// Returns the activation of a feed-forward network: the gated linear unit
  /// SwiGLU (Shazeer 2020) of the products "gate" and "up", or GELU of "up".
  /// `product` makes a product of that name.
  Value activate(const std::string &name,
                 function_ref<Value(const std::string &)> product) {
    Value up = product(name + ".up");
    Emitter node = at(name + ".activation");
    if (!spec.isGated)
      return node.make<graph::GeluOp>(up, /*tanh=*/true);
    Value gate = product(name + ".gate");
    Value swish = node.mul(gate, node.make<graph::SigmoidOp>(gate));
    return node.mul(swish, up);
  }

  Value feedForward(const std::string &name, Value x) {
    Value inner = activate(name, [&](const std::string &part) {
      return linear(part, x, spec.hidden, spec.ffn);
    });
    return linear(name + ".down", inner, spec.ffn, spec.hidden);
  }

  /// Returns a product of each expert, of the shape [experts, tokens, to].
  Value expertLinear(const std::string &name, Value x, int64_t from,
                     int64_t to) {
    return at(name).make<graph::MatmulOp>(
        x, read(at(name), name + ".weight", {spec.experts, from, to}), false,
        false);
  }

  /// Returns the gates of the experts, of the shape [tokens, experts]: the
  /// probabilities of the `topk` chosen ones, which add up to 1, and zeros.
  Value gates(const std::string &name, Value tokens) {
    Value scores = linear(name, tokens, spec.hidden, spec.experts, false);
    Emitter node = at(name);
    Value chance = node.make<graph::SoftmaxOp>(scores, uint64_t(1));
    auto [best, places] = node.topK(chance, spec.topk, 1, /*largest=*/true);
    best = node.div(best, node.reduce(graph::ReduceKind::Sum, best, {1}, true));
    Value none = node.full(cast<RankedTensorType>(chance.getType()), 0);
    return node.make<graph::ScatterElementsOp>(graph::ScatterKind::Set, none,
                                               places, best, uint64_t(1));
  }

  Value mixture(const std::string &name, Value x) {
    const int64_t count = batch * spec.seq;
    Value tokens = at(name).reshape(x, {count, spec.hidden});
    Value shared = at(name).reshape(x, {1, count, spec.hidden});
    Value inner = activate(name, [&](const std::string &part) {
      return expertLinear(part, shared, spec.hidden, spec.ffn);
    });
    Value outputs = expertLinear(name + ".down", inner, spec.ffn, spec.hidden);
    Value sum = at(name).make<graph::EinsumOp>(
        "te,etd->td", ValueRange{gates(name + ".router", tokens), outputs});
    return at(name).reshape(sum, {batch, spec.seq, spec.hidden});
  }

  Value makeLayer(const std::string &name, Value x) {
    x = at(name + ".attention")
            .add(x, attend(name + ".attention",
                           norm(name + ".attention_norm", x)));
    Value input = norm(name + ".ffn_norm", x);
    return at(name + ".ffn")
        .add(x, spec.experts > 0 ? mixture(name + ".experts", input)
                                 : feedForward(name + ".ffn", input));
  }

  const TransformerSpec &spec;
  const int64_t batch;
  ModuleOp module;
  OpBuilder builder;
  Type f32;
  func::FuncOp function;
  /// Tables of rotary positions, if layers use them.
  Value cosines, sines;
  std::set<std::string> declared;
};
} // namespace

OwningOpRef<ModuleOp> pcc::makeTransformer(const TransformerSpec &spec,
                                           int64_t batch,
                                           MLIRContext *context) {
  DialectRegistry registry;
  graph::registerConstantFolding(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<graph::GraphDialect, func::FuncDialect,
                       dist::DistDialect>();
  Builder builder(context);
  auto name = builder.getStringAttr("transformer");
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(name, 0, 0));
  (*module)->setAttr(graph::modelName, name);
  (*module)->setAttr(graph::rootName, builder.getStringAttr("."));
  (*module)->setAttr(graph::boundDimsName,
                     builder.getDictionaryAttr(builder.getNamedAttr(
                         "batch", builder.getI64IntegerAttr(batch))));
  TransformerGraph(spec, batch, *module).build();
  return module;
}
