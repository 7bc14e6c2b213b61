//===- CudnnGraph.h - operations that cuDNN computes as one ---------------===//
//
// cuDNN is given a graph of operations on tensors, and has an engine for some
// graphs: that of attention never stores what lies between its two products.
// Tensors have four dims: batch, heads, rows and columns.
//
//   tensor ── operation ── … ── graph ── engine ── plan ── run
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
#define PCC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H

#include "runtime/device/cuda/CudnnLibrary.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pcc::runtime {

using CudnnDims = std::array<int64_t, 4>;
/// Strides of dims whose elements lie one after another.
CudnnDims denseCudnnStrides(const CudnnDims &dims);

/// Whose a descriptor is; it ends with this.
class CudnnDescriptor {
public:
  CudnnDescriptor() = default;
  CudnnDescriptor(const CudnnLibrary &library, cudnnBackendDescriptor_t handle)
      : handle(handle, library.cudnnBackendDestroyDescriptor) {}

  cudnnBackendDescriptor_t get() const { return handle.get(); }

private:
  using Destroy = cudnnStatus_t (*)(cudnnBackendDescriptor_t);
  std::unique_ptr<void, Destroy> handle{nullptr, nullptr};
};

/// Where a run finds the tensors: of each id the address, of numbers the
/// host's.
struct CudnnAddresses {
  std::vector<int64_t> ids;
  std::vector<void *> data;
};

/// What computes a graph.
struct CudnnPlan {
  std::vector<CudnnDescriptor> kept; ///< of which the plan is made
  cudnnBackendDescriptor_t plan = nullptr;
  int64_t workspaceBytes = 0;

  Status run(const CudnnLibrary &library, cudnnHandle_t handle,
             const CudnnAddresses &places, void *workspace) const;
};

/// Makes descriptors. What goes wrong is kept for finish().
class CudnnGraph {
public:
  using Tensor = cudnnBackendDescriptor_t;

  explicit CudnnGraph(const CudnnLibrary &library) : library(library) {}

  /// A tensor in the GPU's memory, at a multiple of 16 bytes.
  Tensor stored(int64_t id, cudnnDataType_t type, const CudnnDims &dims,
                const CudnnDims &strides);
  /// One f32 of the host.
  Tensor number(int64_t id);
  /// What one operation makes for others.
  Tensor between(cudnnDataType_t type, const CudnnDims &dims) {
    return between(type, dims, denseCudnnStrides(dims));
  }
  Tensor between(cudnnDataType_t type, const CudnnDims &dims,
                 const CudnnDims &strides);

  /// result = a b, a product for each batch and head.
  void multiply(Tensor a, Tensor b, Tensor result);
  /// Element by element; `b` is broadcast where its dims are 1.
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor b, Tensor result) {
    add({mode, a, b, nullptr, result});
  }
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor result) {
    add({mode, a, nullptr, nullptr, result});
  }
  /// Whether a ≥ b.
  void compare(Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_CMP_GE, a, b, nullptr, result, CUDNN_DATA_BOOLEAN});
  }
  /// How far each element of `like` is along `dim`.
  void count(int64_t dim, Tensor like, Tensor result) {
    add({CUDNN_POINTWISE_GEN_INDEX, like, nullptr, nullptr, result,
         CUDNN_DATA_FLOAT, dim});
  }
  /// `a` where `condition` is true, else `b`.
  void select(Tensor condition, Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_BINARY_SELECT, a, b, condition, result});
  }
  /// Over the dims that are 1 in `result`.
  void reduce(cudnnReduceTensorOp_t kind, Tensor tensor, Tensor result);
  /// The same elements under other strides.
  void reorder(Tensor tensor, Tensor result);

  /// Asks for the engines that fit, best first, and takes the first that can
  /// run; `plan` stays empty where there is none. `properties` is the
  /// descriptor of a GPU that is not there, in place of `handle`. The graph is
  /// of no use afterwards.
  Status finish(cudnnHandle_t handle, CudnnPlan &plan,
                cudnnBackendDescriptor_t properties = nullptr);
  /// How many engines fit, whose code could be made.
  int64_t engines() const { return numEngines; }

private:
  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type);
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::span<const T> values);
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T &value) {
    set(descriptor, name, type, std::span<const T>(&value, 1));
  }
  void setTensor(cudnnBackendDescriptor_t descriptor,
                 cudnnBackendAttributeName_t name, Tensor tensor) {
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor);
  }
  void finalize(cudnnBackendDescriptor_t descriptor);
  cudnnBackendDescriptor_t makeTensor(int64_t id, cudnnDataType_t type,
                                      const CudnnDims &dims,
                                      const CudnnDims &strides);
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    Tensor a, b, condition, result; ///< null where there is none
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t dim = -1;
  };
  void add(const Pointwise &pointwise);
  void add(cudnnBackendDescriptor_t operation);
  Status choose(cudnnBackendDescriptor_t heuristics, cudnnHandle_t handle,
                cudnnBackendDescriptor_t properties, CudnnPlan &plan);

  const CudnnLibrary &library;
  Status status = Status::success();
  std::vector<CudnnDescriptor> descriptors; ///< all of them
  std::vector<cudnnBackendDescriptor_t> operations;
  int64_t numBetween = 0, numEngines = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
