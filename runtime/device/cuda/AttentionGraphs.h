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

/// Tensors whose addresses a run provides; the values are their ids in the
/// graph. Query, Result and their gradients are [batch, heads, queries, depth
/// or width]. Key, Value and their gradients are [batch, keyHeads, keys, depth
/// or width].
enum class AttentionTensor : int64_t {
  Query = 1,
  Key,
  Value,
  Result,
  /// Gradient of the result, dO above.
  Gradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  /// Tensors [batch, heads, queries, 1] of f32: the statistics, and D above.
  Statistics,
  Sums,
  // Numbers in host memory.
  Scale,
  Lowest,
  One,
};

/// Type and sizes of an attention: everything that a plan depends on.
/// Grouped-query attention has fewer key heads than heads.
struct AttentionShape {
  /// Type of all tensors but statistics and sums: f16 or bf16.
  cudnnDataType_t type;
  /// `depth` is the size of a query or key, `width` that of a value.
  int64_t batch, heads, keyHeads, queries, keys, depth, width;
  /// Whether query i sees only the keys 0 to i. The numbers of queries and keys
  /// are equal in that case.
  bool isCausal;
  /// Strides in elements of the tensors Query to ValueGradient. Strides of
  /// tensors that a graph does not use are 0.
  std::array<CudnnDims, 8> strides = {};

  /// Returns the dims of the query and of its gradient.
  CudnnDims queryDims() const { return {batch, heads, queries, depth}; }
  /// Returns the dims of the key and of its gradient.
  CudnnDims keyDims() const { return {batch, keyHeads, keys, depth}; }
  /// Returns the dims of the value and of its gradient.
  CudnnDims valueDims() const { return {batch, keyHeads, keys, width}; }
  /// Returns the dims of the result and of its gradient.
  CudnnDims resultDims() const { return {batch, heads, queries, width}; }
  /// Returns the dims of the scores, S above.
  CudnnDims scoreDims() const { return {batch, heads, queries, keys}; }
  /// Returns the dims of one number per query, such as m above.
  CudnnDims rowDims() const { return {batch, heads, queries, 1}; }
  /// Sets the strides of one of the tensors Query to ValueGradient.
  void setStrides(AttentionTensor tensor, const CudnnDims &to) {
    strides[size_t(tensor) - 1] = to;
  }
  /// Returns the strides of one of the tensors Query to ValueGradient.
  const CudnnDims &stridesOf(AttentionTensor tensor) const {
    return strides[size_t(tensor) - 1];
  }
  auto operator<=>(const AttentionShape &) const = default;
};

/// Adds the forward pass to a graph: it computes Result from Query, Key and
/// Value, and Statistics if `withStatistics`.
void addAttention(CudnnGraph &graph, const AttentionShape &shape,
                  bool withStatistics);
/// Adds the backward pass to a graph: it computes the gradients of Query, Key
/// and Value from these tensors, Result, Statistics and Gradient. D is stored
/// in Sums and read again; nothing else uses Sums.
void addAttentionGradients(CudnnGraph &graph, const AttentionShape &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H
