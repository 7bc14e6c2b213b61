//===- FakeCudnn.cpp - cuDNN's functions, on the host ---------------------===//

#include "test/runtime/fake/cuda/CudnnOperations.h"
#include "test/runtime/fake/cuda/FakeGpu.h"

#include <algorithm>
#include <cstring>

using namespace pcc::fake;

namespace {
struct Descriptor {
  cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> attributes = {};
  bool isFinal = false;
  CudnnOperations operations = {}; ///< of a plan

  /// Returns the first value of an attribute.
  template <typename T> T get(cudnnBackendAttributeName_t name) const {
    T value = {};
    if (const auto found = attributes.find(name); found != attributes.end())
      std::memcpy(static_cast<void *>(&value), found->second.data(),
                  std::min(sizeof(T), found->second.size()));
    return value;
  }
  template <typename T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end())
      return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(static_cast<void *>(values.data()), found->second.data(),
                found->second.size());
    return values;
  }
  const Descriptor *next(cudnnBackendAttributeName_t name) const {
    return get<const Descriptor *>(name);
  }
};
struct Handle {
  Stream *stream = nullptr;
};
} // namespace

static constexpr int64_t workspaceBytes = 1 << 12;

static Descriptor &descriptorOf(cudnnBackendDescriptor_t handle) {
  return *static_cast<Descriptor *>(handle);
}

static cudnnStatus_t refuse(cudnnStatus_t status, std::string why) {
  FakeGpu::get().error = std::move(why);
  return status;
}

static size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_BOOLEAN:
    return sizeof(bool);
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4;
  }
}

static CudnnTensor tensorOf(const Descriptor *tensor) {
  CudnnTensor made;
  if (!tensor)
    return made;
  made.id = tensor->get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  made.type = tensor->get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  made.dims = tensor->get<CudnnTensor::Dims>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  made.strides = tensor->get<CudnnTensor::Dims>(CUDNN_ATTR_TENSOR_STRIDES);
  made.isVirtual = tensor->get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  made.isNumber = tensor->get<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  return made;
}

static CudnnOperation operationOf(const Descriptor &op) {
  const auto tensor = [&](cudnnBackendAttributeName_t name) {
    return tensorOf(op.next(name));
  };
  switch (op.type) {
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
    return {CudnnKind::Product,
            tensor(CUDNN_ATTR_OPERATION_MATMUL_ADESC),
            tensor(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
            {},
            tensor(CUDNN_ATTR_OPERATION_MATMUL_CDESC)};
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
    return {CudnnKind::Reduction,
            tensor(CUDNN_ATTR_OPERATION_REDUCTION_XDESC),
            {},
            {},
            tensor(CUDNN_ATTR_OPERATION_REDUCTION_YDESC),
            CUDNN_POINTWISE_EXP,
            op.next(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
                ->get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR)};
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    return {CudnnKind::Reorder,
            tensor(CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
            {},
            {},
            tensor(CUDNN_ATTR_OPERATION_RESHAPE_YDESC),
            CUDNN_POINTWISE_EXP};
  default:
    break;
  }
  const Descriptor *kind =
      op.next(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  return {CudnnKind::Pointwise,
          tensor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
          tensor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC),
          tensor(CUDNN_ATTR_OPERATION_POINTWISE_TDESC),
          tensor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC),
          kind->get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE),
          CUDNN_REDUCE_TENSOR_ADD,
          kind->attributes.contains(CUDNN_ATTR_POINTWISE_AXIS)
              ? kind->get<int64_t>(CUDNN_ATTR_POINTWISE_AXIS)
              : -1};
}

/// Reads the graph of a plan.
static cudnnStatus_t finalizePlan(Descriptor &plan) {
  const Descriptor *graph = plan.next(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
                                ->next(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  for (const Descriptor *op :
       graph->all<const Descriptor *>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    plan.operations.operations.push_back(operationOf(*op));
  const auto isOfGradients = [](const CudnnOperation &op) {
    return op.kind == CudnnKind::Reorder;
  };
  if (settings().gradless &&
      std::ranges::any_of(plan.operations.operations, isOfGradients))
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "gradients");
  const std::string fault = plan.operations.findFault();
  return fault.empty() ? CUDNN_STATUS_SUCCESS
                       : refuse(CUDNN_STATUS_NOT_SUPPORTED, fault);
}

static cudnnStatus_t execute(const Handle &handle, const Descriptor &plan,
                             const Descriptor &pack) {
  FakeGpu &gpu = FakeGpu::get();
  const auto ids = pack.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = pack.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<int64_t, void *> places;
  for (size_t i = 0; i < ids.size() && i < data.size(); ++i)
    places[ids[i]] = data[i];
  std::vector<Access> accesses = {{reinterpret_cast<uintptr_t>(pack.get<void *>(
                                       CUDNN_ATTR_VARIANT_PACK_WORKSPACE)),
                                   workspaceBytes, true}};
  if (!plan.operations.findAccesses(places, accesses))
    return refuse(CUDNN_STATUS_BAD_PARAM,
                  "the addresses are not those of the tensors");
  for (const Access &access : accesses)
    if (!gpu.holds(reinterpret_cast<const void *>(access.begin),
                   access.bytes) ||
        access.begin % 16 != 0)
      return refuse(CUDNN_STATUS_EXECUTION_FAILED,
                    "attention uses memory that is not the GPU's");
  // Numbers are in host memory and are read at once.
  auto numbers = std::make_shared<std::map<int64_t, float>>();
  for (const CudnnOperation &op : plan.operations.operations)
    if (op.b.isNumber)
      std::memcpy(&(*numbers)[op.b.id], places[op.b.id], sizeof(float));
  Work work = [operations = plan.operations, places, numbers]() mutable {
    for (auto &[id, number] : *numbers)
      places[id] = &number;
    operations.run(places);
    return true;
  };
  return gpu.give(*handle.stream, "attention", accesses,
                  [work] { return work; })
             ? CUDNN_STATUS_SUCCESS
             : CUDNN_STATUS_EXECUTION_FAILED;
}

extern "C" {

size_t cudnnGetVersion() { return size_t(settings().dnn); }

const char *cudnnGetErrorString(cudnnStatus_t status) {
  static thread_local std::string text;
  text = "the fake's status " + std::to_string(int(status)) + ": " +
         FakeGpu::get().error;
  return text.c_str();
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *made) {
  *made = reinterpret_cast<cudnnHandle_t>(new Handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete reinterpret_cast<Handle *>(handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<Handle *>(handle)->stream =
      reinterpret_cast<Stream *>(stream);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *made) {
  *made = new Descriptor{type};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  delete &descriptorOf(handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values) {
  Descriptor &descriptor = descriptorOf(handle);
  if (descriptor.isFinal)
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that is final");
  const auto *const *others = static_cast<const Descriptor *const *>(values);
  for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; ++i)
    if (!others[i]->isFinal)
      return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that is not final");
  const auto *bytes = static_cast<const char *>(values);
  descriptor.attributes[name].assign(bytes,
                                     bytes + size_t(count) * sizeOf(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t,
                                       int64_t most, int64_t *count,
                                       void *values) {
  const Descriptor &descriptor = descriptorOf(handle);
  if (!descriptor.isFinal)
    return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that is not final");
  *count = 1;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t *>(values) = workspaceBytes;
  } else if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "an attribute");
  } else if (most > 0) {
    Descriptor &engine = **static_cast<Descriptor **>(values);
    engine.attributes = descriptor.attributes;
    engine.isFinal = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  Descriptor &descriptor = descriptorOf(handle);
  descriptor.isFinal = true;
  return descriptor.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
             ? finalizePlan(descriptor)
             : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  const std::lock_guard lock(FakeGpu::get().mutex);
  return execute(*reinterpret_cast<Handle *>(handle), descriptorOf(plan),
                 descriptorOf(pack));
}

} // extern "C"
