//===- CudnnAttention.h - attention plans of cuDNN, cached by shape -------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H

#include "runtime/device/cuda/AttentionGraphs.h"

#include <map>

namespace pcc::runtime {

/// The cuDNN library as one rank uses it. A plan is a compiled graph that
/// computes attention (FlashAttention, Dao et al. 2022) of one shape. cuDNN may
/// be absent or lack an engine for a shape. Neither is an error: there is no
/// plan then, and the program's own kernels compute the attention.
class CudnnAttention {
public:
  CudnnAttention() = default;
  ~CudnnAttention();
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  /// Opens cuDNN and makes it enqueue all work on `stream`. If the environment
  /// variable PCC_CUDNN is "off" or cuDNN cannot be opened, no plans are found.
  void open(cudaStream_t stream);

  /// Returns the plan of the forward pass, or null if there is none.
  /// `withStatistics`: the plan also stores the log-sum-exp of each query's
  /// scores, which the gradients need. The plan lives as long as this object.
  const CudnnPlan *findResult(const AttentionShape &shape, bool withStatistics);
  /// Returns the plan of the gradients of query, key and value, or null if
  /// there is none.
  const CudnnPlan *findGradients(const AttentionShape &shape);

  /// Enqueues a plan of this object. `workspace` is GPU memory of
  /// plan.workspaceBytes bytes.
  Status run(const CudnnPlan &plan, const CudnnAddresses &places,
             void *workspace) const {
    return plan.run(library, handle, places, workspace);
  }
  /// Returns the score of a masked key: minus infinity, or the smallest finite
  /// number for versions of cuDNN that cannot subtract infinities. Requires
  /// that cuDNN is open.
  float lowest() const;

private:
  /// The graphs that this class compiles.
  enum class Kind { Result, ResultAndStatistics, Gradients };
  /// Returns the plan of a graph from the cache, or compiles it.
  const CudnnPlan *find(Kind kind, const AttentionShape &shape);

  CudnnLibrary library;
  /// Handle of cuDNN; null if cuDNN is not used.
  cudnnHandle_t handle = nullptr;
  /// Plans by graph and shape. An empty plan says that cuDNN has no engine.
  std::map<std::pair<Kind, AttentionShape>, CudnnPlan> plans;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
