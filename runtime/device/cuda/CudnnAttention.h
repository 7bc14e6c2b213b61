//===- CudnnAttention.h - attention plans of cuDNN, cached by shape -------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H

#include "runtime/device/cuda/AttentionGraphs.h"

#include <map>

namespace pcc::runtime {

/// Uses cuDNN for the attention of one rank (FlashAttention, Dao et al. 2022).
/// A plan is a compiled cuDNN graph for one shape. Without a plan, the kernels
/// that pcc compiled compute the attention.
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

  /// Returns the plan of the forward pass for `shape`, or null if there is
  /// none. With `withStatistics`, the plan also stores the log-sum-exp of each
  /// query's scores, for the gradients. The plan is valid as long as this
  /// object exists.
  const CudnnPlan *findResult(const AttentionShape &shape, bool withStatistics);
  /// Returns the plan that computes the gradients of query, key and value, or
  /// null if there is none. The plan is valid as long as this object exists.
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
  /// Returns the score of a masked key: minus infinity or, for old versions of
  /// cuDNN, the smallest finite f32. Requires that cuDNN is open.
  float lowest() const;

private:
  /// Kind of a graph that this class compiles:
  ///
  /// - Result: forward pass
  /// - ResultAndStatistics: forward pass that also stores the log-sum-exp of
  ///   each query's scores
  /// - Gradients: backward pass
  enum class Kind { Result, ResultAndStatistics, Gradients };
  /// Returns the plan for `kind` and `shape`. Compiles the plan unless `plans`
  /// already has it. Returns null if cuDNN has no engine for the graph.
  const CudnnPlan *find(Kind kind, const AttentionShape &shape);

  CudnnLibrary library;
  /// Handle with which cuDNN's functions are called; null if cuDNN is not used.
  cudnnHandle_t handle = nullptr;
  /// Compiled plans by kind of graph and shape. If the member `plan` of an
  /// entry is null, cuDNN has no engine for the graph.
  std::map<std::pair<Kind, AttentionShape>, CudnnPlan> plans;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
