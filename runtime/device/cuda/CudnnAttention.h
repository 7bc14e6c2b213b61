//===- CudnnAttention.h - cuDNN, and how it computes attention ------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H

#include "runtime/device/cuda/AttentionGraphs.h"

#include <map>

namespace pcc::runtime {

/// cuDNN of one rank. A machine may lack it, and it may have no engine: then
/// there is no plan, and that is no error.
class CudnnAttention {
public:
  CudnnAttention() = default;
  ~CudnnAttention();
  CudnnAttention(const CudnnAttention &) = delete;
  CudnnAttention &operator=(const CudnnAttention &) = delete;

  /// Opens cuDNN, unless PCC_CUDNN is "off". All that it computes goes to
  /// `stream`.
  void open(cudaStream_t stream);

  /// Null where cuDNN cannot. A plan lives as long as this.
  const CudnnPlan *findResult(const AttentionShape &shape, bool withStatistics);
  const CudnnPlan *findGradients(const AttentionShape &shape);

  Status run(const CudnnPlan &plan, const CudnnAddresses &places,
             void *workspace) const {
    return plan.run(library, handle, places, workspace);
  }
  /// The number below all scores: infinite where cuDNN can subtract that.
  float lowest() const;

private:
  enum class Kind { Result, ResultAndStatistics, Gradients };
  const CudnnPlan *find(Kind kind, const AttentionShape &shape);

  CudnnLibrary library;
  cudnnHandle_t handle = nullptr;
  std::map<std::pair<Kind, AttentionShape>, CudnnPlan> plans;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNATTENTION_H
