//===- AttentionGraphs.h - attention as cuDNN knows it --------------------===//
//
// cuDNN has engines for these graphs, and for no others that say the same:
//
//   S = scale · Q Kᵀ, −∞ where a key is behind its query
//   m = max S     P = exp(S − m)     l = Σ P     O = (P / l) V
//   statistics = m + log l
//
// and for the gradients, with dO that of O:
//
//   P = exp(S − statistics)          dV = Pᵀ dO
//   D = Σ dO ∘ O                     dS = scale · P ∘ (dO Vᵀ − D)
//   dQ = dS K                        dK = dSᵀ Q
//
// One that adds up dQ as dS K, not in any order (FlashAttention-2, arXiv
// 2307.08691, section 3.1), gives the same bits in every run.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H
#define PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H

#include "runtime/device/cuda/CudnnGraph.h"

#include <compare>

namespace pcc::runtime {

/// Tensors that a run gives. Query, Result and their gradients are [batch,
/// heads, queries, depth or width], Key and Value [batch, keyHeads, keys, …].
enum class AttentionTensor : int64_t {
  Query = 1,
  Key,
  Value,
  Result,
  Gradient, ///< of the result
  QueryGradient,
  KeyGradient,
  ValueGradient,
  /// f32 [batch, heads, queries, 1]: the statistics, and D
  Statistics,
  Sums,
  // Numbers.
  Scale,
  Lowest,
  One,
};

struct AttentionShape {
  cudnnDataType_t type;
  int64_t batch, heads, keyHeads, queries, keys, depth, width;
  bool isCausal; ///< with as many queries as keys
  /// Strides of the tensors up to ValueGradient; unused ones are 0.
  std::array<CudnnDims, 8> strides = {};

  CudnnDims queryDims() const { return {batch, heads, queries, depth}; }
  CudnnDims keyDims() const { return {batch, keyHeads, keys, depth}; }
  CudnnDims valueDims() const { return {batch, keyHeads, keys, width}; }
  CudnnDims resultDims() const { return {batch, heads, queries, width}; }
  CudnnDims scoreDims() const { return {batch, heads, queries, keys}; }
  CudnnDims rowDims() const { return {batch, heads, queries, 1}; }
  void setStrides(AttentionTensor tensor, const CudnnDims &to) {
    strides[size_t(tensor) - 1] = to;
  }
  const CudnnDims &stridesOf(AttentionTensor tensor) const {
    return strides[size_t(tensor) - 1];
  }
  auto operator<=>(const AttentionShape &) const = default;
};

/// Adds the operations that make Result, and Statistics if they are wanted.
void addAttention(CudnnGraph &graph, const AttentionShape &shape,
                  bool withStatistics);
/// Adds those that make the three gradients from Query, Key, Value, Result,
/// Statistics and Gradient; what they put into Sums, only they read.
void addAttentionGradients(CudnnGraph &graph, const AttentionShape &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_ATTENTIONGRAPHS_H
