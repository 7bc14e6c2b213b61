//===- AttentionGraphs.cpp - attention as cuDNN knows it ------------------===//

#include "runtime/device/cuda/AttentionGraphs.h"

#include <utility>

namespace pcc::runtime {

namespace {
/// The tensors of one graph.
class Attention {
public:
  using Tensor = CudnnGraph::Tensor;
  using Name = AttentionTensor;

  Attention(CudnnGraph &graph, const AttentionShape &shape)
      : graph(graph), shape(shape),
        query(stored(Name::Query, shape.queryDims())),
        transposedKey(transposed(Name::Key, shape.keyDims())),
        scale(graph.number(int64_t(Name::Scale))) {}

  void addForward(bool withStatistics) {
    const Tensor value = stored(Name::Value, shape.valueDims());
    const Tensor scores = hidden(scaled(product(query, transposedKey)));
    const Tensor top = row();
    graph.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, top);
    const Tensor weights = exponential(difference(scores, top));
    const Tensor total = row();
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, weights, total);
    // Part of what engines know, even if nobody wants it.
    const Tensor logarithm = row();
    graph.compute(CUDNN_POINTWISE_LOG, total, logarithm);
    graph.compute(CUDNN_POINTWISE_ADD, top, logarithm,
                  withStatistics ? rows(Name::Statistics) : row());
    const Tensor shares = graph.between(shape.type, shape.scoreDims());
    graph.compute(CUDNN_POINTWISE_DIV, weights, total, shares);
    graph.multiply(shares, value, stored(Name::Result, shape.resultDims()));
  }

  void addGradients() {
    const Tensor gradient = stored(Name::Gradient, shape.resultDims());
    const Tensor sums = sumsOf(gradient);
    const Tensor scores = scaled(product(query, transposedKey));
    const Tensor weights =
        exponential(hidden(difference(scores, rows(Name::Statistics))));
    multiplyToKeys(turned(weights), gradient, Name::ValueGradient,
                   shape.valueDims());
    const Tensor ofWeights = difference(
        product(gradient, transposed(Name::Value, shape.valueDims())), sums);
    const Tensor ofScores = table();
    graph.compute(CUDNN_POINTWISE_MUL, ofWeights, weights, ofScores);
    const Tensor ofProducts = scaled(ofScores);
    multiplyToKeys(turned(ofProducts), query, Name::KeyGradient,
                   shape.keyDims());
    const Tensor key = graph.between(CUDNN_DATA_FLOAT, shape.keyDims(),
                                     shape.stridesOf(Name::Key));
    graph.reorder(transposedKey, key);
    graph.multiply(ofProducts, key,
                   stored(Name::QueryGradient, shape.queryDims()));
  }

private:
  static CudnnDims swapped(CudnnDims dims) {
    std::swap(dims[2], dims[3]);
    return dims;
  }

  Tensor stored(Name name, const CudnnDims &dims) {
    return graph.stored(int64_t(name), shape.type, dims, shape.stridesOf(name));
  }
  Tensor transposed(Name name, const CudnnDims &dims) {
    return graph.stored(int64_t(name), shape.type, swapped(dims),
                        swapped(shape.stridesOf(name)));
  }
  Tensor rows(Name name) {
    return graph.stored(int64_t(name), CUDNN_DATA_FLOAT, shape.rowDims(),
                        denseCudnnStrides(shape.rowDims()));
  }
  Tensor row() { return graph.between(CUDNN_DATA_FLOAT, shape.rowDims()); }
  Tensor table() { return graph.between(CUDNN_DATA_FLOAT, shape.scoreDims()); }

  Tensor product(Tensor a, Tensor b) {
    const Tensor made = table();
    graph.multiply(a, b, made);
    return made;
  }
  Tensor scaled(Tensor scores) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_MUL, scores, scale, made);
    return made;
  }
  Tensor difference(Tensor scores, Tensor ofRows) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_SUB, scores, ofRows, made);
    return made;
  }
  Tensor exponential(Tensor scores) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_EXP, scores, made);
    return made;
  }

  /// Without what a query does not see.
  Tensor hidden(Tensor scores) {
    if (!shape.isCausal)
      return scores;
    const Tensor ofQuery = graph.between(CUDNN_DATA_INT32, shape.scoreDims()),
                 ofKey = graph.between(CUDNN_DATA_INT32, shape.scoreDims()),
                 sees = graph.between(CUDNN_DATA_BOOLEAN, shape.scoreDims()),
                 made = table();
    graph.count(2, scores, ofQuery);
    graph.count(3, scores, ofKey);
    graph.compare(ofQuery, ofKey, sees);
    graph.select(sees, scores, graph.number(int64_t(Name::Lowest)), made);
    return made;
  }

  /// D
  Tensor sumsOf(Tensor gradient) {
    const Tensor products = graph.between(CUDNN_DATA_FLOAT, shape.resultDims()),
                 sums = row(), made = rows(Name::Sums);
    graph.compute(CUDNN_POINTWISE_MUL, gradient,
                  stored(Name::Result, shape.resultDims()), products);
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
    graph.compute(CUDNN_POINTWISE_MUL, sums, graph.number(int64_t(Name::One)),
                  made);
    return made;
  }

  /// Scores by key, in the type of factors.
  Tensor turned(Tensor scores) {
    const CudnnDims dims = swapped(shape.scoreDims());
    const Tensor made = graph.between(
        shape.type, dims, swapped(denseCudnnStrides(shape.scoreDims())));
    graph.reorder(scores, made);
    return made;
  }

  /// A product for each query head, summed over those that share a key head.
  void multiplyToKeys(Tensor scores, Tensor factor, Name name, CudnnDims dims) {
    const Tensor result = stored(name, dims);
    if (shape.heads == shape.keyHeads) {
      graph.multiply(scores, factor, result);
      return;
    }
    dims[1] = shape.heads;
    const Tensor ofHeads = graph.between(shape.type, dims);
    graph.multiply(scores, factor, ofHeads);
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, ofHeads, result);
  }

  CudnnGraph &graph;
  const AttentionShape &shape;
  const Tensor query, transposedKey, scale;
};
} // namespace

void addAttention(CudnnGraph &graph, const AttentionShape &shape,
                  bool withStatistics) {
  Attention(graph, shape).addForward(withStatistics);
}

void addAttentionGradients(CudnnGraph &graph, const AttentionShape &shape) {
  Attention(graph, shape).addGradients();
}

} // namespace pcc::runtime
