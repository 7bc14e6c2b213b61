//===- CudnnAttention.h - attention plans of cuDNN, cached by shape -------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H

#include "runtime/device/cuda/AttentionGraphs.h"

#include <map>

namespace pcc::runtime {

/// Computes the attention of one rank with cuDNN. The algorithm is
/// FlashAttention (Dao et al. 2022). cuDNN must first compile a graph of
/// operations. The compiled graph is called a plan. This class compiles the
/// graph once for each shape (AttentionShape), and keeps the plan.
///
/// cuDNN may be absent, or may not support an attention. findResult() and
/// findGradients() then return null instead of a plan. The caller then uses a
/// kernel that pcc has compiled.
class CudnnAttention {
public:
  CudnnAttention() = default;
  ~CudnnAttention();
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  /// Opens cuDNN, which enqueues all work on `stream`. If cuDNN cannot be
  /// opened or the environment variable PCC_CUDNN is "off", findResult() and
  /// findGradients() return null.
  void open(cudaStream_t stream);

  /// Returns the plan that computes the forward pass of an attention. A plan is
  /// a compiled cuDNN graph. `shape` has the element type, the sizes and the
  /// strides of the attention's tensors. If `withStatistics` is true, the plan
  /// also stores the log-sum-exp of each query's scores, which the backward
  /// pass needs.
  ///
  /// Returns null if cuDNN is not open, or if cuDNN cannot compile the graph.
  /// This object owns the plan. The plan is valid as long as this object
  /// exists.
  const CudnnPlan *findResult(const AttentionShape &shape, bool withStatistics);
  /// Returns the plan that computes the backward pass of an attention: the
  /// gradients of query, key and value. A plan is a compiled cuDNN graph.
  /// `shape` has the element type, the sizes and the strides of the attention's
  /// tensors.
  ///
  /// Returns null if cuDNN is not open, cannot compile the graph, has a known
  /// error for it (see hasSoundGradients()), or needs more than 2 GiB for it.
  /// This object owns the plan. The plan is valid as long as this object
  /// exists.
  const CudnnPlan *findGradients(const AttentionShape &shape);

  /// Enqueues `plan` on the stream that was given to open(). A plan is a
  /// compiled cuDNN graph. findResult() or findGradients() must have returned
  /// `plan`. `places` has the id and the address of each tensor that the plan
  /// reads from memory or writes to memory. The ids are the numbers in the
  /// enumeration AttentionTensor. For example, the id of Query is 1: if
  /// places.ids[0] is 1, places.data[0] is the address of the query.
  /// `workspace` is the address of temporary GPU memory, at least
  /// plan.workspaceBytes bytes.
  Status run(const CudnnPlan &plan, const CudnnAddresses &places,
             void *workspace) const {
    return plan.run(library, handle, places, workspace);
  }
  /// Returns the score of a key that a causal mask hides from a query. For
  /// cuDNN 9.10 or later, the score is minus infinity. For earlier versions of
  /// cuDNN, the score is the most negative finite f32, about -3.4e38. The
  /// caller must have opened cuDNN.
  float lowest() const;

private:
  /// Kind of a graph that this class compiles:
  ///
  /// - Result: forward pass
  /// - ResultAndStatistics: forward pass that also stores the log-sum-exp of
  ///   each query's scores
  /// - Gradients: backward pass
  enum class Kind { Result, ResultAndStatistics, Gradients };
  /// Returns the plan for an attention. A plan is a compiled cuDNN graph.
  /// `kind` selects the graph, such as the forward pass or the backward pass.
  /// `shape` has the element type, the sizes and the strides of the attention's
  /// tensors. Compiles the graph, unless an earlier call with the same `kind`
  /// and `shape` has compiled it. Returns null if cuDNN is not open, or if
  /// cuDNN cannot compile the graph.
  const CudnnPlan *find(Kind kind, const AttentionShape &shape);

  CudnnLibrary library;
  /// Handle with which cuDNN's functions are called; null if cuDNN is not used.
  cudnnHandle_t handle = nullptr;
  /// Plans that find() has compiled. A plan is a compiled cuDNN graph. The key
  /// of a plan is a pair. The first part of the pair tells what the graph
  /// computes, such as the backward pass. The second part has the element type,
  /// the sizes and the strides of the attention's tensors.
  ///
  /// If cuDNN could not compile a graph, the map has an empty plan for the
  /// graph. The member `plan` of an empty plan is null.
  std::map<std::pair<Kind, AttentionShape>, CudnnPlan> plans;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
