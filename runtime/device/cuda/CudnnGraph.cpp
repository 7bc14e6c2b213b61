//===- CudnnGraph.cpp - operation graphs that cuDNN compiles to plans -----===//

#include "runtime/device/cuda/CudnnGraph.h"

namespace pcc::runtime {

/// Smallest id of an intermediate tensor. Each tensor of a cuDNN graph has a
/// unique id. The user of CudnnGraph chooses the ids of the tensors that are in
/// memory. These ids must be less than 1000. An intermediate tensor is a value
/// that one operation of the graph passes to another. CudnnGraph::between()
/// makes the intermediate tensors, and gives them the ids 1000, 1001 and so on.
static constexpr int64_t firstBetween = 1000;

CudnnDims denseCudnnStrides(const CudnnDims &dims) {
  return {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
}

/// Returns whether `result`, the value that a function of cuDNN returned, means
/// that cuDNN does not support a graph of operations. Returns false for success
/// and for all other errors.
static bool isUnsupported(cudnnStatus_t result) {
  return CUDNN_STATUS_CATEGORY(result) == CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnBackendDescriptor_t CudnnGraph::make(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  const cudnnStatus_t result =
      library.cudnnBackendCreateDescriptor(type, &made);
  if (result != CUDNN_STATUS_SUCCESS)
    made = nullptr;
  if (result != CUDNN_STATUS_SUCCESS && status.ok())
    status = library.check(result, "cudnnBackendCreateDescriptor");
  return descriptors.emplace_back(library, made).get();
}

template <typename T>
void CudnnGraph::set(cudnnBackendDescriptor_t descriptor,
                     cudnnBackendAttributeName_t name,
                     cudnnBackendAttributeType_t type,
                     std::span<const T> values) {
  if (status.ok())
    status = library.check(library.cudnnBackendSetAttribute(
                               descriptor, name, type, int64_t(values.size()),
                               static_cast<const void *>(values.data())),
                           "cudnnBackendSetAttribute");
}

void CudnnGraph::finalize(cudnnBackendDescriptor_t descriptor) {
  if (status.ok())
    status = library.check(library.cudnnBackendFinalize(descriptor),
                           "cudnnBackendFinalize");
}

cudnnBackendDescriptor_t CudnnGraph::makeTensor(int64_t id,
                                                cudnnDataType_t type,
                                                const CudnnDims &dims,
                                                const CudnnDims &strides) {
  constexpr int64_t alignment = 16;
  const cudnnBackendDescriptor_t tensor = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  set(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
      std::span<const int64_t>(dims));
  set(tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
      std::span<const int64_t>(strides));
  set(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  set(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
  return tensor;
}

CudnnGraph::Tensor CudnnGraph::stored(int64_t id, cudnnDataType_t type,
                                      const CudnnDims &dims,
                                      const CudnnDims &strides) {
  const Tensor tensor = makeTensor(id, type, dims, strides);
  finalize(tensor);
  ids.insert(id);
  return tensor;
}

CudnnGraph::Tensor CudnnGraph::number(int64_t id) {
  const Tensor tensor =
      makeTensor(id, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1});
  set(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true);
  finalize(tensor);
  ids.insert(id);
  return tensor;
}

CudnnGraph::Tensor CudnnGraph::between(cudnnDataType_t type,
                                       const CudnnDims &dims,
                                       const CudnnDims &strides) {
  const Tensor tensor =
      makeTensor(firstBetween + numBetween++, type, dims, strides);
  set(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  finalize(tensor);
  return tensor;
}

void CudnnGraph::add(cudnnBackendDescriptor_t operation) {
  finalize(operation);
  operations.push_back(operation);
}

void CudnnGraph::multiply(Tensor a, Tensor b, Tensor result) {
  const auto product = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  set(product, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
      CUDNN_DATA_FLOAT);
  finalize(product);
  const auto operation = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  setTensor(operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
  setTensor(operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
  setTensor(operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, result);
  setTensor(operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
  add(operation);
}

/// Adds the elementwise operation `pointwise` to the graph. cuDNN needs two
/// descriptors for the operation. The first descriptor has the kind of
/// operation, such as an addition, and the element type of the computation. The
/// second descriptor has the tensors that the operation reads and writes, and
/// refers to the first descriptor.
void CudnnGraph::add(const Pointwise &pointwise) {
  const auto kind = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set(kind, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
      pointwise.mode);
  set(kind, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
      pointwise.type);
  if (pointwise.dim >= 0)
    set(kind, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, pointwise.dim);
  finalize(kind);
  const auto operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kind);
  setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, pointwise.a);
  if (pointwise.b)
    setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, pointwise.b);
  if (pointwise.condition)
    setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
              pointwise.condition);
  setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, pointwise.result);
  add(operation);
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t kind, Tensor tensor,
                        Tensor result) {
  const auto reduction = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  set(reduction, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
      CUDNN_DATA_FLOAT);
  set(reduction, CUDNN_ATTR_REDUCTION_OPERATOR,
      CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, kind);
  finalize(reduction);
  const auto operation = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  setTensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, tensor);
  setTensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, result);
  setTensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
  add(operation);
}

void CudnnGraph::reorder(Tensor tensor, Tensor result) {
  const auto operation = make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  setTensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, tensor);
  setTensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, result);
  add(operation);
}

/// Compiles the graph, and sets `plan` to the compiled graph. An engine is one
/// of the implementations that cuDNN has for a graph. cuDNN's heuristics return
/// a list of engines for the graph, fastest first. The heuristics have several
/// modes, and this function uses the mode CUDNN_HEUR_MODE_A. choose() then
/// compiles the graph with an engine of the list.
///
/// The heuristics may report that no engine supports the graph. The function
/// then leaves `plan` empty and returns success.
Status CudnnGraph::finish(cudnnHandle_t handle, CudnnPlan &plan,
                          cudnnBackendDescriptor_t properties) {
  const auto graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
      std::span<const cudnnBackendDescriptor_t>(operations));
  if (!properties)
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  finalize(graph);
  const auto heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  setTensor(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
      CUDNN_HEUR_MODE_A);
  if (properties)
    setTensor(heuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties);
  if (status.failed())
    return status;
  const cudnnStatus_t result = library.cudnnBackendFinalize(heuristics);
  if (isUnsupported(result))
    return Status::success();
  status = library.check(result, "cudnnBackendFinalize");
  return status.failed() ? status
                         : choose(heuristics, handle, properties, plan);
}

/// Compiles the graph, and sets `plan` to the compiled graph. An engine is one
/// of the implementations that cuDNN has for a graph. The descriptor
/// `heuristics` has the list of the engines that cuDNN proposes for the graph.
/// The function tries the engines in the order of the list. It stops at the
/// first engine that supports the graph. If no engine supports the graph, the
/// function leaves `plan` empty and returns success.
///
/// If `properties` is null, the function compiles for the GPU of `handle`.
/// Otherwise the function compiles for the GPU that the descriptor `properties`
/// describes.
Status CudnnGraph::choose(cudnnBackendDescriptor_t heuristics,
                          cudnnHandle_t handle,
                          cudnnBackendDescriptor_t properties,
                          CudnnPlan &plan) {
  const auto find = [&](int64_t most, cudnnBackendDescriptor_t *found) {
    return library.check(library.cudnnBackendGetAttribute(
                             heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &numEngines,
                             static_cast<void *>(found)),
                         "cudnnBackendGetAttribute");
  };
  if (status = find(0, nullptr); status.failed())
    return status;
  std::vector<cudnnBackendDescriptor_t> engines;
  for (int64_t i = 0; i < numEngines; ++i)
    engines.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
  if (status.ok())
    status = find(int64_t(engines.size()), engines.data());
  for (int64_t i = 0; i < numEngines && status.ok() && !plan.plan; ++i) {
    const auto made = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    setTensor(made, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
              engines[size_t(i)]);
    if (properties)
      setTensor(made, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties);
    else
      set(made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    // Compiles the graph with engine number i. cuDNN proposed this engine, but
    // the engine may still not support the graph, and cudnnBackendFinalize()
    // then returns an error. In this case, the loop tries the next engine.
    if (status.failed() ||
        library.cudnnBackendFinalize(made) != CUDNN_STATUS_SUCCESS)
      continue;
    int64_t count = 0;
    status =
        library.check(library.cudnnBackendGetAttribute(
                          made, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                          CUDNN_TYPE_INT64, 1, &count, &plan.workspaceBytes),
                      "cudnnBackendGetAttribute");
    plan.plan = made;
  }
  if (plan.plan) {
    plan.kept = std::move(descriptors);
    plan.ids = std::move(ids);
  }
  return status;
}

/// Returns the entries of `places` whose ids are in `ids`.
static CudnnAddresses select(const CudnnAddresses &places,
                             const std::set<int64_t> &ids) {
  CudnnAddresses selected;
  for (size_t i = 0; i < places.ids.size(); ++i)
    if (ids.contains(places.ids[i])) {
      selected.ids.push_back(places.ids[i]);
      selected.data.push_back(places.data[i]);
    }
  return selected;
}

/// Enqueues the compiled graph with cudnnBackendExecute(). cuDNN expects the
/// addresses of the tensors in a descriptor that is called a variant pack. The
/// attributes of a finalized descriptor cannot be changed. Each call of run()
/// therefore creates a new descriptor, and destroys it at the end.
Status CudnnPlan::run(const CudnnLibrary &library, cudnnHandle_t handle,
                      const CudnnAddresses &places, void *workspace) const {
  cudnnBackendDescriptor_t made = nullptr;
  PCC_RETURN_IF_ERROR(
      library.check(library.cudnnBackendCreateDescriptor(
                        CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &made),
                    "cudnnBackendCreateDescriptor"));
  const CudnnDescriptor pack(library, made);
  const CudnnAddresses selected = select(places, ids);
  const auto count = int64_t(selected.ids.size());
  const cudnnStatus_t results[] = {
      library.cudnnBackendSetAttribute(made, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                       CUDNN_TYPE_INT64, count,
                                       selected.ids.data()),
      library.cudnnBackendSetAttribute(
          made, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
          count, static_cast<const void *>(selected.data.data())),
      library.cudnnBackendSetAttribute(made, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                       CUDNN_TYPE_VOID_PTR, 1,
                                       static_cast<void *>(&workspace)),
      library.cudnnBackendFinalize(made)};
  for (const cudnnStatus_t result : results)
    PCC_RETURN_IF_ERROR(library.check(result, "a cuDNN variant pack"));
  return library.check(library.cudnnBackendExecute(handle, plan, made),
                       "cudnnBackendExecute");
}

} // namespace pcc::runtime
