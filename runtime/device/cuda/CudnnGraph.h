//===- CudnnGraph.h - operation graphs that cuDNN compiles to plans -------===//
//
// cuDNN compiles a graph of operations on tensors if it has an engine for that
// graph. The engine for attention fuses all operations into one kernel, so that
// the intermediate tensors between its two products are never stored. All
// tensors have four dims: batch, heads, rows and columns. Descriptors are made
// in this order:
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

/// Sizes or strides of the four dims, outermost first.
using CudnnDims = std::array<int64_t, 4>;
/// Returns the strides of a dense row-major tensor.
CudnnDims denseCudnnStrides(const CudnnDims &dims);

/// Owner of a cuDNN descriptor, which it destroys.
class CudnnDescriptor {
public:
  CudnnDescriptor() = default;
  /// Takes ownership of `handle`, which may be null.
  CudnnDescriptor(const CudnnLibrary &library, cudnnBackendDescriptor_t handle)
      : handle(handle, library.cudnnBackendDestroyDescriptor) {}

  /// Returns the descriptor, or null if there is none.
  cudnnBackendDescriptor_t get() const { return handle.get(); }

private:
  using Destroy = cudnnStatus_t (*)(cudnnBackendDescriptor_t);
  std::unique_ptr<void, Destroy> handle{nullptr, nullptr};
};

/// Addresses for a run: data[i] is the address of the tensor with id ids[i], in
/// the GPU's memory, or in the host's for numbers (CudnnGraph::number).
struct CudnnAddresses {
  std::vector<int64_t> ids;
  std::vector<void *> data;
};

/// A compiled graph, ready to run.
struct CudnnPlan {
  /// Descriptors that the plan refers to, and the plan itself.
  std::vector<CudnnDescriptor> kept;
  /// The plan; null if cuDNN has no engine for the graph.
  cudnnBackendDescriptor_t plan = nullptr;
  /// Bytes of GPU memory that a run needs as scratch.
  int64_t workspaceBytes = 0;

  /// Enqueues the plan on the stream of `handle`. `workspace` has
  /// workspaceBytes bytes of GPU memory.
  Status run(const CudnnLibrary &library, cudnnHandle_t handle,
             const CudnnAddresses &places, void *workspace) const;
};

/// Builder of one graph. Tensors are made first, then operations that connect
/// them, then finish() compiles the graph. The first error of any call is kept,
/// and finish() returns it.
class CudnnGraph {
public:
  /// Tensor of the graph, which owns the descriptor.
  using Tensor = cudnnBackendDescriptor_t;

  /// Creates an empty graph. Borrows `library`, which must outlive the graph.
  explicit CudnnGraph(const CudnnLibrary &library) : library(library) {}

  /// Makes a tensor in the GPU's memory, whose address a run provides under
  /// `id`. The address must be a multiple of 16 bytes.
  Tensor stored(int64_t id, cudnnDataType_t type, const CudnnDims &dims,
                const CudnnDims &strides);
  /// Makes an f32 in host memory, whose address a run provides under `id`.
  Tensor number(int64_t id);
  /// Makes a dense intermediate tensor: the result of one operation that only
  /// other operations read. Intermediate tensors have no address.
  Tensor between(cudnnDataType_t type, const CudnnDims &dims) {
    return between(type, dims, denseCudnnStrides(dims));
  }
  /// Makes an intermediate tensor with the given strides.
  Tensor between(cudnnDataType_t type, const CudnnDims &dims,
                 const CudnnDims &strides);

  /// Adds a matrix product, result = a b, for each batch and head.
  void multiply(Tensor a, Tensor b, Tensor result);
  /// Adds an elementwise operation of two tensors. `b` is broadcast along dims
  /// of size 1.
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor b, Tensor result) {
    add({mode, a, b, nullptr, result});
  }
  /// Adds an elementwise operation of one tensor.
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor result) {
    add({mode, a, nullptr, nullptr, result});
  }
  /// Adds the comparison result = a ≥ b, element by element.
  void compare(Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_CMP_GE, a, b, nullptr, result, CUDNN_DATA_BOOLEAN});
  }
  /// Adds an operation whose result is, at each element, the element's index
  /// along `dim`. `like` has the shape of the result.
  void count(int64_t dim, Tensor like, Tensor result) {
    add({CUDNN_POINTWISE_GEN_INDEX, like, nullptr, nullptr, result,
         CUDNN_DATA_FLOAT, dim});
  }
  /// Adds the selection result = condition ? a : b, element by element.
  void select(Tensor condition, Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_BINARY_SELECT, a, b, condition, result});
  }
  /// Adds a reduction over the dims whose size in `result` is 1.
  void reduce(cudnnReduceTensorOp_t kind, Tensor tensor, Tensor result);
  /// Adds an operation that passes the elements of `tensor` on as `result`, a
  /// tensor with other strides.
  void reorder(Tensor tensor, Tensor result);

  /// Compiles the graph, with the first of cuDNN's proposed engines that can
  /// run it. `plan` stays empty, without an error, if there is none.
  /// `properties` may describe a GPU that is not present; `handle` is then
  /// unused and may be null. The graph must not be used after this call, except
  /// engines().
  Status finish(cudnnHandle_t handle, CudnnPlan &plan,
                cudnnBackendDescriptor_t properties = nullptr);
  /// Returns how many engines cuDNN has proposed in finish().
  int64_t engines() const { return numEngines; }

private:
  /// Creates a descriptor that the graph owns. Null on an error.
  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type);
  /// Sets an attribute that is an array of values.
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::span<const T> values);
  /// Sets an attribute that is a single value.
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T &value) {
    set(descriptor, name, type, std::span<const T>(&value, 1));
  }
  /// Sets an attribute that is a tensor or another descriptor.
  void setTensor(cudnnBackendDescriptor_t descriptor,
                 cudnnBackendAttributeName_t name, Tensor tensor) {
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor);
  }
  /// Completes a descriptor, whose attributes are fixed from then on.
  void finalize(cudnnBackendDescriptor_t descriptor);
  /// Makes the descriptor of a tensor, but does not finalize it.
  cudnnBackendDescriptor_t makeTensor(int64_t id, cudnnDataType_t type,
                                      const CudnnDims &dims,
                                      const CudnnDims &strides);
  /// An elementwise operation. `b` and `condition` are null where the operation
  /// has none. `type` is the type of computation; `dim` is -1 for operations
  /// without a dim.
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    Tensor a, b, condition, result; ///< null where there is none
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t dim = -1;
  };
  /// Adds an elementwise operation.
  void add(const Pointwise &pointwise);
  /// Finalizes an operation and adds it to the graph.
  void add(cudnnBackendDescriptor_t operation);
  /// Makes the plan from the first proposed engine that can run the graph.
  Status choose(cudnnBackendDescriptor_t heuristics, cudnnHandle_t handle,
                cudnnBackendDescriptor_t properties, CudnnPlan &plan);

  const CudnnLibrary &library;
  /// The first error.
  Status status = Status::success();
  /// All descriptors made for this graph; finish() moves them into the plan.
  std::vector<CudnnDescriptor> descriptors;
  std::vector<cudnnBackendDescriptor_t> operations;
  /// Number of intermediate tensors, and of proposed engines.
  int64_t numBetween = 0, numEngines = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
