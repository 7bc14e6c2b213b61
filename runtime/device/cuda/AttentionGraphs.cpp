//===- AttentionGraphs.cpp - attention as graphs of cuDNN operations ------===//

#include "runtime/device/cuda/AttentionGraphs.h"

#include <utility>

namespace pcc::runtime {

namespace {
/// Builder of a cuDNN graph that computes an attention. addForward() adds the
/// operations of the forward pass to the graph, and addGradients() adds the
/// operations of the backward pass. A private method such as product() adds
/// operations to the graph, and returns the tensor that the operations compute.
class Attention {
public:
  using Tensor = CudnnGraph::Tensor;
  using Name = AttentionTensor;

  Attention(CudnnGraph &graph, const AttentionShape &shape)
      : graph(graph), shape(shape),
        query(stored(Name::Query, shape.queryDims())),
        transposedKey(transposed(Name::Key, shape.keyDims())),
        scale(graph.number(int64_t(Name::Scale))) {}

  /// Adds the operations of the forward pass to the graph:
  ///
  ///   softmax(scale * query * transposed key) * value
  ///
  /// If the attention is causal, query i ignores all keys after key i. If
  /// `withStatistics` is true, the graph also stores the log-sum-exp of the
  /// scores of each query in GPU memory, for the backward pass. A score is the
  /// scaled dot product of a query and a key.
  void addForward(bool withStatistics) {
    const Tensor value = stored(Name::Value, shape.valueDims());
    const Tensor scores = hidden(scaled(product(query, transposedKey)));
    const Tensor top = row();
    graph.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, top);
    const Tensor weights = exponential(difference(scores, top));
    const Tensor total = row();
    graph.reduce(CUDNN_REDUCE_TENSOR_ADD, weights, total);
    // cuDNN's engines require that the graph computes the statistics
    // (log-sum-exp of the scores), even if no operation reads them.
    const Tensor logarithm = row();
    graph.compute(CUDNN_POINTWISE_LOG, total, logarithm);
    graph.compute(CUDNN_POINTWISE_ADD, top, logarithm,
                  withStatistics ? rows(Name::Statistics) : row());
    const Tensor shares = graph.between(shape.type, shape.scoreDims());
    graph.compute(CUDNN_POINTWISE_DIV, weights, total, shares);
    graph.multiply(shares, value, stored(Name::Result, shape.resultDims()));
  }

  /// Adds the operations of the backward pass to the graph. The operations
  /// compute the gradients of the query, the key and the value. The operations
  /// read these tensors:
  ///
  /// - the query, the key and the value
  /// - the output of the attention, and the gradient of the output
  /// - the log-sum-exp of the scores of each query. A score is the scaled dot
  ///   product of a query and a key.
  ///
  /// The comment at the top of AttentionGraphs.h has the formulas of the
  /// gradients.
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
  /// Returns `dims` with the last two entries exchanged.
  static CudnnDims swapped(CudnnDims dims) {
    std::swap(dims[2], dims[3]);
    return dims;
  }

  /// Adds the tensor `name`, such as Query, to the graph. Returns this tensor.
  /// The tensor is in GPU memory, and each run provides its address. `dims` are
  /// the sizes of the tensor. The strides of the tensor come from the member
  /// `shape`.
  Tensor stored(Name name, const CudnnDims &dims) {
    return graph.stored(int64_t(name), shape.type, dims, shape.stridesOf(name));
  }
  /// Adds the transpose of the tensor `name` to the graph, and returns it.
  /// `dims` are the sizes of the tensor `name`. The transpose has the last two
  /// sizes and the last two strides exchanged. For example, if `name` is Key of
  /// shape [2, 8, 128, 64], the result is [2, 8, 64, 128]. No data is copied:
  /// the result has the address of the tensor `name`.
  Tensor transposed(Name name, const CudnnDims &dims) {
    return graph.stored(int64_t(name), shape.type, swapped(dims),
                        swapped(shape.stridesOf(name)));
  }
  /// Adds a tensor with one f32 number per query to the graph, and returns the
  /// tensor. The shape of the tensor is [batch, heads, queries, 1]. The tensor
  /// is in GPU memory, and each run of the graph provides its address. `name`
  /// is one of two names:
  ///
  /// - Statistics: the number is the log-sum-exp of the scores of the query. A
  ///   score is the scaled dot product of the query and a key.
  /// - Sums: the number is the dot product of two vectors. The first vector is
  ///   the output of the attention for the query. The second vector is the
  ///   gradient of this output.
  Tensor rows(Name name) {
    return graph.stored(int64_t(name), CUDNN_DATA_FLOAT, shape.rowDims(),
                        denseCudnnStrides(shape.rowDims()));
  }
  /// Adds a tensor with one f32 number per query to the graph, and returns the
  /// tensor. The shape of the tensor is [batch, heads, queries, 1]. The tensor
  /// is virtual in the sense of cuDNN: it passes a value from one operation of
  /// the graph to other operations, and has no address in GPU memory.
  Tensor row() { return graph.between(CUDNN_DATA_FLOAT, shape.rowDims()); }
  /// Adds a tensor with one f32 number per pair of a query and a key to the
  /// graph, and returns the tensor. The shape of the tensor is [batch, heads,
  /// queries, keys]. The tensor is virtual in the sense of cuDNN: it passes a
  /// value from one operation of the graph to other operations, and has no
  /// address in GPU memory.
  Tensor table() { return graph.between(CUDNN_DATA_FLOAT, shape.scoreDims()); }

  /// Adds a matrix multiplication to the graph, and returns the tensor of the
  /// result. For each batch index and each head, the operation multiplies a
  /// matrix a [queries, length] by a matrix b [length, keys]. The result has
  /// the shape [batch, heads, queries, keys] and the element type f32. For
  /// example, if a is the query and b is the transposed key, each element of
  /// the result is the dot product of a query vector and a key vector.
  Tensor product(Tensor a, Tensor b) {
    const Tensor made = table();
    graph.multiply(a, b, made);
    return made;
  }
  /// Returns `scores` times the attention's scale factor.
  Tensor scaled(Tensor scores) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_MUL, scores, scale, made);
    return made;
  }
  /// Returns `scores` minus `ofRows`. `scores` is [batch, heads, queries,
  /// keys]. `ofRows` is [batch, heads, queries, 1] and has one number per
  /// query. This number is subtracted from each score of the query. For
  /// example, if a query has the scores 5 and 7, and its number is 3, the
  /// result has 2 and 4.
  Tensor difference(Tensor scores, Tensor ofRows) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_SUB, scores, ofRows, made);
    return made;
  }
  /// Returns exp(scores).
  Tensor exponential(Tensor scores) {
    const Tensor made = table();
    graph.compute(CUDNN_POINTWISE_EXP, scores, made);
    return made;
  }

  /// Applies the causal mask of the attention to `scores`, which has one number
  /// per pair of query and key. With a causal mask, query i attends only to the
  /// keys 0 to i. If j is greater than i, the function replaces the score of
  /// query i and key j by a very low number: minus infinity, or the lowest
  /// finite f32 for old versions of cuDNN. The weight of key j in the softmax
  /// is then 0. Returns `scores` unchanged if the attention is not causal.
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

  /// Adds the operations that compute the tensor Sums, and returns Sums. Sums
  /// has one number per query, and is stored in GPU memory. The number is the
  /// dot product of two vectors: the output of the attention for the query, and
  /// the gradient of that output. The parameter `gradient` contains these
  /// gradients. For example, let the output be [1, 2], and let its gradient be
  /// [3, 4]. The number is 1 * 3 + 2 * 4 = 11.
  ///
  /// cuDNN can compute the dot products only in a tensor without an address.
  /// Another operation therefore multiplies that tensor by 1, and stores the
  /// result in Sums.
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

  /// Returns the transpose of `scores`. `scores` is [batch, heads, queries,
  /// keys], and the result is [batch, heads, keys, queries]. The elements of
  /// the result are rounded to the element type of the attention, f16 or bf16.
  /// The caller multiplies the result by another matrix.
  Tensor turned(Tensor scores) {
    const CudnnDims dims = swapped(shape.scoreDims());
    const Tensor made = graph.between(
        shape.type, dims, swapped(denseCudnnStrides(shape.scoreDims())));
    graph.reorder(scores, made);
    return made;
  }

  /// Adds the operations that compute the gradient `name` with the sizes
  /// `dims`:
  ///
  ///   gradient [keys, size] = scores [keys, queries] * factor [queries, size]
  ///
  /// For KeyGradient, `scores` is the gradient of the dot products of the keys
  /// and the queries, and `factor` is the query. For ValueGradient, `scores` is
  /// the softmax, and `factor` is the gradient of the output. If several query
  /// heads share one key head, the products of these query heads are added.
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

bool hasSoundGradients(const AttentionShape &shape, size_t version) {
  const bool hasGradients = version != 91000 && version != 91001;
  const bool isInBounds = version > 91500 || shape.keys % 128 == 0;
  const bool isFinite = shape.isCausal || shape.keys % 128 != 64;
  return hasGradients && isInBounds && isFinite && shape.queries > 1;
}

} // namespace pcc::runtime
