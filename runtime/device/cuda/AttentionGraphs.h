//===- AttentionGraphs.h - attention as graphs of cuDNN operations --------===//
//
// cuDNN has engines for graphs of exactly these operations, not for other
// graphs that are equivalent. The forward pass is
//
//   S = scale · Q Kᵀ, −∞ where the mask hides a key from a query
//   m = max S     P = exp(S − m)     l = Σ P     O = (P / l) V
//   statistics = m + log l
//
// where max and Σ reduce the keys of each query. With dO, the gradient of O,
// the backward pass is
//
//   P = exp(S − statistics)          dV = Pᵀ dO
//   D = Σ dO ∘ O                     dS = scale · P ∘ (dO Vᵀ − D)
//   dQ = dS K                        dK = dSᵀ Q
//
// Because dQ is the product dS K in this graph, its terms are added in a fixed
// order, which gives the same bits in every run. The atomic additions of
// FlashAttention-2 (Dao 2023, arXiv 2307.08691) may have any order.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H
#define PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H

#include "runtime/device/cuda/CudnnGraph.h"

#include <compare>

namespace pcc::runtime {

/// Ids of the tensors in the cuDNN graphs of an attention. Each run of a graph
/// receives one address per id. The tensors have these shapes:
///
///   Query   [batch, heads, queries, depth]
///   Key     [batch, keyHeads, keys, depth]
///   Value   [batch, keyHeads, keys, width]
///   Result  [batch, heads, queries, width]
///
/// Gradient is the gradient of Result. A gradient has the shape of its tensor.
enum class AttentionTensor : int64_t {
  Query = 1,
  Key,
  Value,
  Result,
  /// Gradient of the loss with respect to Result (dO in the formulas at the top
  /// of this file).
  Gradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  /// Two tensors [batch, heads, queries, 1] of f32, with one number per query:
  ///
  /// - Statistics: the log-sum-exp of the scores of the query. A score is the
  ///   scaled dot product of the query and one key.
  /// - Sums: the dot product of two vectors. They are the vector of the query
  ///   in Result and the vector of the query in Gradient. For example, if the
  ///   vectors are [1, 2] and [3, 4], the number is 1 * 3 + 2 * 4 = 11.
  Statistics,
  Sums,
  // Each of these three tensors is a single f32 number in host memory:
  //
  // - Scale: the number by which the dot product of a query and a key is
  //   multiplied.
  // - Lowest: the score of a key that a causal mask hides from a query. Lowest
  //   is minus infinity, or the lowest finite f32 for old versions of cuDNN.
  // - One: the number 1. A graph multiplies intermediate numbers by 1 in order
  //   to store them in memory.
  Scale,
  Lowest,
  One,
};

/// Element type, sizes and strides of the tensors of an attention. A compiled
/// cuDNN plan depends only on this struct. In grouped-query attention,
/// `keyHeads` is less than `heads`.
struct AttentionShape {
  /// Element type (f16 or bf16) of all tensors except Statistics and Sums.
  cudnnDataType_t type;
  /// Sizes of the tensors of the attention:
  ///
  /// - `batch`: number of independent attentions
  /// - `heads`: number of heads of the queries
  /// - `keyHeads`: number of heads of the keys and of the values
  /// - `queries`: number of queries of one head
  /// - `keys`: number of keys of one head. Each key has one value.
  /// - `depth`: number of elements of a query vector or of a key vector
  /// - `width`: number of elements of a value vector
  int64_t batch, heads, keyHeads, queries, keys, depth, width;
  /// Whether the mask is causal: query i attends only to the keys 0 to i.
  /// `queries` equals `keys` in that case.
  bool isCausal;
  /// Strides, in elements, of eight tensors. They are the tensors from Query to
  /// ValueGradient, in the order of the enum AttentionTensor. The first element
  /// has the strides of Query, and the last element has the strides of
  /// ValueGradient. If a graph does not use a tensor, its strides are 0.
  std::array<CudnnDims, 8> strides = {};

  /// Returns the dims of Query and QueryGradient.
  CudnnDims queryDims() const { return {batch, heads, queries, depth}; }
  /// Returns the dims of Key and KeyGradient.
  CudnnDims keyDims() const { return {batch, keyHeads, keys, depth}; }
  /// Returns the sizes of the dims of the tensor Value, which has one vector of
  /// `width` numbers per key. Its gradient, ValueGradient, has the same sizes.
  CudnnDims valueDims() const { return {batch, keyHeads, keys, width}; }
  /// Returns the sizes of the dims of the tensor Result, which is the output of
  /// the attention. Result has one vector of `width` numbers per query. Its
  /// gradient, named Gradient, has the same sizes.
  CudnnDims resultDims() const { return {batch, heads, queries, width}; }
  /// Returns the dims of the attention scores, S = scale · Q Kᵀ.
  CudnnDims scoreDims() const { return {batch, heads, queries, keys}; }
  /// Returns the dims of a tensor with one number per query, such as the
  /// maximum of the query's scores.
  CudnnDims rowDims() const { return {batch, heads, queries, 1}; }
  /// Sets the strides of `tensor`, in elements, to `to`. `tensor` must be
  /// Query, Key, Value, Result, Gradient, QueryGradient, KeyGradient or
  /// ValueGradient, because the member `strides` has entries for these eight
  /// tensors only.
  void setStrides(AttentionTensor tensor, const CudnnDims &to) {
    strides[size_t(tensor) - 1] = to;
  }
  /// Returns the strides of `tensor`, in elements. `tensor` must be Query, Key,
  /// Value, Result, Gradient, QueryGradient, KeyGradient or ValueGradient.
  const CudnnDims &stridesOf(AttentionTensor tensor) const {
    return strides[size_t(tensor) - 1];
  }
  auto operator<=>(const AttentionShape &) const = default;
};

/// Adds the operations of the forward pass of an attention to `graph`. The
/// operations read the tensors Query, Key and Value, and compute the tensor
/// Result. `shape` has the element type, the sizes and the strides of these
/// tensors.
///
/// If `withStatistics` is true, the operations also write the tensor Statistics
/// to GPU memory. The backward pass reads this tensor. Statistics has one
/// number per query: the logarithm of the sum of exp(score) over all keys. The
/// score is the scaled dot product of the query and the key. For example, if a
/// query has the scores 0 and 0 for two keys, the number is log(1 + 1) = 0.69.
void addAttention(CudnnGraph &graph, const AttentionShape &shape,
                  bool withStatistics);
/// Adds the operations of the backward pass of an attention to `graph`. The
/// operations compute QueryGradient, KeyGradient and ValueGradient. The
/// operations read Query, Key, Value, Result, Statistics, Gradient, Scale and
/// One. With a causal mask, the operations also read Lowest. The operations
/// store an intermediate result in the tensor Sums. Each run must therefore
/// pass an address of Sums.
void addAttentionGradients(CudnnGraph &graph, const AttentionShape &shape);

/// Returns whether cuDNN of version `version`, such as 91900 for 9.19, computes
/// the gradients of an attention without a known error. Sources: the checks and
/// release notes of NVIDIA's cudnn-frontend.
///
/// - Versions 9.10.0 and 9.10.1 compute no gradients.
/// - Up to 9.15.0, replays of a CUDA graph access memory outside of the tensors
///   if the number of keys is not a multiple of 128.
/// - One query gives NaN, or is not supported.
/// - Without a causal mask, a number of keys that is 64 more than a multiple of
///   128 gives NaN for scores below -88 (cudnn-frontend pull request 628).
bool hasSoundGradients(const AttentionShape &shape, size_t version);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H
