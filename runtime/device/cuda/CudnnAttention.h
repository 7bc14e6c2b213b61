//===- CudnnAttention.h - attention plans of cuDNN, cached by shape -------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H

#include "runtime/device/cuda/AttentionGraphs.h"

#include <map>

namespace pcc::runtime {

/// Uses cuDNN for the attention of one rank (FlashAttention, Dao et al. 2022).
/// A plan is a compiled cuDNN graph for attention of one shape. If cuDNN is
/// absent or has no engine for a shape, the functions return no plan, which is
/// not an error. The kernels that pcc compiled then compute the attention.
class CudnnAttention {
public:
  CudnnAttention() = default;
  ~CudnnAttention();
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  /// Opens cuDNN and sets `stream` as the stream on which cuDNN enqueues all
  /// work. If cuDNN cannot be opened, or if the environment variable PCC_CUDNN
  /// is "off", findResult() and findGradients() return null.
  void open(cudaStream_t stream);

  /// Returns the plan of the forward pass of attention of `shape`, or null if
  /// there is none. If `withStatistics` is true, the plan also stores the
  /// log-sum-exp of each query's scores, which the plan of the gradients reads.
  /// The plan is valid as long as this object exists.
  const CudnnPlan *findResult(const AttentionShape &shape, bool withStatistics);
  /// Returns the plan that computes the gradients of query, key and value, or
  /// null if there is none. The plan is valid as long as this object exists.
  const CudnnPlan *findGradients(const AttentionShape &shape);

  /// Enqueues `plan`, which findResult() or findGradients() has returned.
  /// `places` has the addresses of the tensors. `workspace` is GPU memory of
  /// plan.workspaceBytes bytes.
  Status run(const CudnnPlan &plan, const CudnnAddresses &places,
             void *workspace) const {
    return plan.run(library, handle, places, workspace);
  }
  /// Returns the score of a masked key in the plans. The score is minus
  /// infinity or, for versions of cuDNN that cannot subtract infinities, the
  /// smallest finite f32. Requires that cuDNN is open.
  float lowest() const;

private:
  /// Kinds of graphs that this class compiles: the forward pass without and
  /// with statistics, and the backward pass.
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
