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
#include <set>
#include <span>
#include <vector>

namespace pcc::runtime {

/// Sizes or strides (in elements) of the four dims of a tensor, outermost
/// first.
using CudnnDims = std::array<int64_t, 4>;
/// Returns the strides of a dense row-major tensor with the sizes `dims`.
CudnnDims denseCudnnStrides(const CudnnDims &dims);

/// Owns a cuDNN descriptor and destroys it in the destructor.
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

/// Addresses of the tensors that a compiled graph reads from memory or writes
/// to memory. Each tensor has an id, which is unique in the graph. data[i] is
/// the address of the tensor with the id ids[i]. For example, if ids[0] is 3,
/// data[0] is the address of the tensor with id 3.
///
/// A tensor from CudnnGraph::number() is a single f32, and its address is in
/// host memory. The addresses of all other tensors are in GPU memory.
struct CudnnAddresses {
  std::vector<int64_t> ids;
  std::vector<void *> data;
};

/// A compiled graph, ready to run.
struct CudnnPlan {
  /// Descriptors that cuDNN needs to execute the compiled graph. The list has,
  /// for example, one descriptor for each tensor, one for each operation, and
  /// one for the compiled graph. The destructor destroys the descriptors.
  std::vector<CudnnDescriptor> kept;
  /// Descriptor of the compiled graph; null if cuDNN could not compile the
  /// graph. The member `kept` owns the descriptor.
  cudnnBackendDescriptor_t plan = nullptr;
  /// Ids of the tensors that the graph reads from memory or writes to memory.
  /// cuDNN requires the addresses of exactly these tensors.
  std::set<int64_t> ids;
  /// Bytes of GPU memory that run() needs as `workspace`.
  int64_t workspaceBytes = 0;

  /// Enqueues the compiled graph on the stream of `handle`. `library` has the
  /// functions of cuDNN. `places` has the id and the address of each tensor
  /// that the graph reads from memory or writes to memory. For example, if
  /// places.ids[0] is 3, places.data[0] is the address of the tensor with id 3.
  /// `places` may have other tensors too, and cuDNN does not receive these.
  /// `workspace` is the address of temporary GPU memory, at least
  /// workspaceBytes bytes.
  Status run(const CudnnLibrary &library, cudnnHandle_t handle,
             const CudnnAddresses &places, void *workspace) const;
};

/// Builder of one graph of cuDNN operations. The caller makes tensors, adds
/// operations that read and write them, and compiles the graph with finish().
/// If a call fails, later calls do nothing, and finish() returns the first
/// error.
class CudnnGraph {
public:
  /// The cuDNN descriptor of a tensor that an operation of the graph reads or
  /// writes. The graph owns the descriptor until finish() has compiled the
  /// graph. The compiled graph then owns the descriptor.
  using Tensor = cudnnBackendDescriptor_t;

  /// Creates a graph without operations. `library` must outlive the graph.
  explicit CudnnGraph(const CudnnLibrary &library) : library(library) {}

  /// Makes a tensor in GPU memory, which the graph reads or writes. `type` is
  /// the element type. `dims` has the sizes of the dims, and `strides` the
  /// strides in elements. `id` is a number that identifies the tensor in the
  /// graph. The caller chooses the number, which must be less than 1000. The
  /// tensor has no address yet. Each call of CudnnPlan::run() passes the
  /// address of the tensor with this id. The address must be a multiple of 16
  /// bytes.
  Tensor stored(int64_t id, cudnnDataType_t type, const CudnnDims &dims,
                const CudnnDims &strides);
  /// Makes a tensor that consists of one f32 in host memory, such as a scale
  /// factor. `id` is a number that identifies the tensor in the graph. The
  /// caller chooses the number, which must be less than 1000. Each call of
  /// CudnnPlan::run() passes the address of the tensor with this id. cuDNN
  /// reads the f32 from this address.
  Tensor number(int64_t id);
  /// Makes a tensor for a value that one operation of the graph passes to
  /// another. The tensor has no address. Its strides are those of a dense
  /// row-major tensor.
  Tensor between(cudnnDataType_t type, const CudnnDims &dims) {
    return between(type, dims, denseCudnnStrides(dims));
  }
  /// Makes a tensor for a value that one operation of the graph passes to
  /// another. The tensor has no address.
  Tensor between(cudnnDataType_t type, const CudnnDims &dims,
                 const CudnnDims &strides);

  /// Adds an operation that computes matrix products. All tensors have the dims
  /// [batch, heads, rows, columns]. For each batch index and each head, the
  /// operation multiplies a matrix of `a` by a matrix of `b`, and writes the
  /// product to `result`. For example, `a` of shape [2, 8, 128, 64] and `b` of
  /// shape [2, 8, 64, 32] give `result` of shape [2, 8, 128, 32].
  ///
  /// `b` may have fewer heads than `a`. For example, if `a` has 8 heads and `b`
  /// has 2 heads, the operation multiplies heads 0 to 3 of `a` by head 0 of
  /// `b`, and heads 4 to 7 of `a` by head 1 of `b`.
  void multiply(Tensor a, Tensor b, Tensor result);
  /// Adds an elementwise operation on the tensors `a` and `b` to the graph. The
  /// operation writes the tensor `result`. `mode` is the kind of operation,
  /// such as CUDNN_POINTWISE_ADD. If `b` has a dim of size 1, `b` is broadcast
  /// along this dim. For example, let the operation be an addition, let `a` be
  /// [2, 8, 128, 64], and let `b` be [2, 8, 128, 1]. Each element of `b` is
  /// then added to 64 elements of `a`.
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor b, Tensor result) {
    add({mode, a, b, nullptr, result});
  }
  /// Adds an elementwise operation on the tensor `a` to the graph. The
  /// operation writes the tensor `result`. `mode` is the kind of operation,
  /// such as CUDNN_POINTWISE_EXP.
  void compute(cudnnPointwiseMode_t mode, Tensor a, Tensor result) {
    add({mode, a, nullptr, nullptr, result});
  }
  /// Adds the elementwise comparison result = a ≥ b.
  void compare(Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_CMP_GE, a, b, nullptr, result, CUDNN_DATA_BOOLEAN});
  }
  /// Adds an operation that fills `result` with indices. Each element becomes
  /// the index of the element along `dim`. For example, if `dim` is 2, the
  /// element at index [0, 1, 5, 7] becomes 5. `like` is a tensor with the shape
  /// of `result`. The operation needs an input tensor, and `like` is this
  /// input. The values of `like` do not matter.
  void count(int64_t dim, Tensor like, Tensor result) {
    add({CUDNN_POINTWISE_GEN_INDEX, like, nullptr, nullptr, result,
         CUDNN_DATA_FLOAT, dim});
  }
  /// Adds the elementwise selection result = condition ? a : b.
  void select(Tensor condition, Tensor a, Tensor b, Tensor result) {
    add({CUDNN_POINTWISE_BINARY_SELECT, a, b, condition, result});
  }
  /// Adds an operation that reduces `tensor` to `result`. `kind` is the kind of
  /// reduction, such as a sum. Each size of `result` divides the size of the
  /// same dim of `tensor`. The quotient is the number of elements that the
  /// operation combines along the dim. For example, let `kind` be a sum, and
  /// let `tensor` have the shape [2, 8, 128, 64]:
  ///
  /// - If `result` has the shape [2, 8, 128, 1], each element of `result` is
  ///   the sum of 64 elements along the last dim.
  /// - If `result` has the shape [2, 2, 128, 64], each element of `result` is
  ///   the sum of 4 elements along the second dim. For example, result[0, 1, 0,
  ///   0] is the sum of the elements from tensor[0, 4, 0, 0] to tensor[0, 7, 0,
  ///   0].
  void reduce(cudnnReduceTensorOp_t kind, Tensor tensor, Tensor result);
  /// Adds an operation that copies `tensor` to `result`, which has the same
  /// elements but other strides.
  void reorder(Tensor tensor, Tensor result);

  /// Compiles the graph, and stores the result in `plan`. Uses the first of
  /// cuDNN's proposed engines (implementations) that supports the graph. If no
  /// engine supports the graph, leaves `plan` empty and returns success. The
  /// function compiles for the GPU of `handle` if `properties` is null,
  /// otherwise for the GPU that `properties` describes. This computer need not
  /// have that GPU.
  ///
  /// The function moves the descriptors of the graph to `plan`. The caller must
  /// not call any function of this object except engines() afterwards.
  Status finish(cudnnHandle_t handle, CudnnPlan &plan,
                cudnnBackendDescriptor_t properties = nullptr);
  /// Returns the number of engines that cuDNN proposed for this graph when
  /// finish() compiled it. An engine is one of the implementations that cuDNN
  /// has for a graph. The number is 0 if cuDNN has proposed no engine, or if
  /// finish() has not been called.
  int64_t engines() const { return numEngines; }

private:
  /// Creates a descriptor of `type`. The graph owns the descriptor. Returns
  /// null on an error.
  cudnnBackendDescriptor_t make(cudnnBackendDescriptorType_t type);
  /// Sets the attribute `name` of `descriptor` to an array of values.
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           std::span<const T> values);
  /// Sets the attribute `name` of `descriptor` to a single value.
  template <typename T>
  void set(cudnnBackendDescriptor_t descriptor,
           cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           const T &value) {
    set(descriptor, name, type, std::span<const T>(&value, 1));
  }
  /// Sets one attribute of a descriptor. The value of the attribute is a
  /// descriptor too, usually that of a tensor. For example, the descriptor of a
  /// matrix product has an attribute for the first factor. `descriptor` is the
  /// descriptor that has the attribute, `name` selects the attribute, and
  /// `tensor` is the value.
  void setTensor(cudnnBackendDescriptor_t descriptor,
                 cudnnBackendAttributeName_t name, Tensor tensor) {
    set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensor);
  }
  /// Finalizes a descriptor, whose attributes cannot be changed afterwards.
  void finalize(cudnnBackendDescriptor_t descriptor);
  /// Creates the descriptor of a tensor without finalizing it, so that the
  /// caller can set more attributes.
  cudnnBackendDescriptor_t makeTensor(int64_t id, cudnnDataType_t type,
                                      const CudnnDims &dims,
                                      const CudnnDims &strides);
  /// An elementwise operation:
  ///
  /// - `mode`: the kind of operation, such as CUDNN_POINTWISE_ADD
  /// - `a`: the first operand
  /// - `b`: the second operand; null if the operation has only one operand
  /// - `condition`: a boolean tensor that selects between the elements of `a`
  ///   and `b`; null for all operations except CUDNN_POINTWISE_BINARY_SELECT
  /// - `result`: the tensor that the operation writes
  /// - `type`: the element type of the computation
  /// - `dim`: -1 for all operations except CUDNN_POINTWISE_GEN_INDEX, which
  ///   writes the index along `dim` to each element of `result`. For example,
  ///   if `dim` is 2, the element at index [0, 1, 5, 7] becomes 5.
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    Tensor a, b, condition, result; ///< null where there is none
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t dim = -1;
  };
  /// Adds the elementwise operation `pointwise` to the graph.
  void add(const Pointwise &pointwise);
  /// Finalizes the descriptor of an operation and adds it to the graph.
  void add(cudnnBackendDescriptor_t operation);
  /// Compiles the graph, and sets `plan` to the compiled graph. An engine is
  /// one of the implementations that cuDNN has for a graph. The descriptor
  /// `heuristics` has the list of the engines that cuDNN proposes for this
  /// graph, fastest first. The function uses the first engine of the list that
  /// supports the graph. If no engine supports the graph, the function leaves
  /// `plan` empty and returns success. If `properties` is null, the function
  /// compiles for the GPU of `handle`. Otherwise the function compiles for the
  /// GPU that `properties` describes.
  Status choose(cudnnBackendDescriptor_t heuristics, cudnnHandle_t handle,
                cudnnBackendDescriptor_t properties, CudnnPlan &plan);

  const CudnnLibrary &library;
  /// The first error that a member function has detected, such as a failed call
  /// of cuDNN. finish() returns this error. The value is success if no member
  /// function has detected an error.
  Status status = Status::success();
  /// All cuDNN descriptors that this object has created, for example the
  /// descriptors of tensors and operations. If finish() can compile the graph,
  /// finish() moves these descriptors to the compiled graph (CudnnPlan). cuDNN
  /// needs the descriptors to execute the compiled graph.
  std::vector<CudnnDescriptor> descriptors;
  std::vector<cudnnBackendDescriptor_t> operations;
  /// Ids of the tensors from stored() and number().
  std::set<int64_t> ids;
  /// `numBetween` is the number of intermediate tensors in the graph. An
  /// intermediate tensor is a value that one operation passes to another.
  ///
  /// `numEngines` is the number of engines that cuDNN proposed for the graph.
  /// An engine is one of the implementations that cuDNN has for a graph.
  int64_t numBetween = 0, numEngines = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
