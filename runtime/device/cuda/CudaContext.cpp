//===- CudaContext.cpp - the GPU of a rank, its memory and its streams ----===//

#include "runtime/device/cuda/CudaContext.h"

#include <cstring>
#include <thread>

namespace pcc::runtime {

CudaContext::~CudaContext() {
  if (!context || isLeft)
    return;
  for (CUevent event : events)
    functions.cuEventDestroy(event);
  for (CUstream stream : streams)
    functions.cuStreamDestroy(stream);
  for (CUdeviceptr address : memory)
    functions.cuMemFree(address);
  for (void *address : pinned)
    functions.cuMemFreeHost(address);
  functions.cuDevicePrimaryCtxRelease(device);
}

Status CudaContext::describe() {
  char name[128] = "";
  int major = 0, minor = 0;
  PCC_RETURN_IF_ERROR(check(
      functions.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName"));
  const auto attribute = [&](int &value, CUdevice_attribute which) {
    return check(functions.cuDeviceGetAttribute(&value, which, device),
                 "cuDeviceGetAttribute");
  };
  PCC_RETURN_IF_ERROR(
      attribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  PCC_RETURN_IF_ERROR(
      attribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  PCC_RETURN_IF_ERROR(
      attribute(multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  capabilityNumber = major * 10 + minor;
  model = name;
  text = "GPU " + std::to_string(device) + " (" + name +
         ", compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ")";
  return Status::success();
}

Status CudaContext::findBus(std::string &bus) const {
  char text[32] = "";
  Status status =
      check(functions.cuDeviceGetPCIBusId(text, sizeof text, device),
            "cuDeviceGetPCIBusId");
  bus = text;
  return status;
}

std::string CudaContext::driverVersion() const {
  int version = 0;
  functions.cuDriverGetVersion(&version);
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Status CudaContext::open(int number) {
  PCC_RETURN_IF_ERROR(openCudaDriver(functions));
  int count = 0;
  PCC_RETURN_IF_ERROR(
      check(functions.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return Status::error(NoDevice, "the driver sees no GPU");
  PCC_RETURN_IF_ERROR(
      check(functions.cuDeviceGet(&device, number % count), "cuDeviceGet"));
  PCC_RETURN_IF_ERROR(describe());
  // Uses the GPU's primary context, which cuBLASLt and NCCL also use.
  PCC_RETURN_IF_ERROR(
      check(functions.cuDevicePrimaryCtxRetain(&context, device),
            "cuDevicePrimaryCtxRetain"));
  PCC_RETURN_IF_ERROR(
      check(functions.cuCtxSetCurrent(context), "cuCtxSetCurrent"));
  return createStream(computeStream);
}

Status CudaContext::createStream(CUstream &stream) {
  Status status =
      check(functions.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
            "cuStreamCreate");
  if (status.ok())
    streams.push_back(stream);
  return status;
}

Status CudaContext::createEvent(CUevent &event) {
  Status status =
      check(functions.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING),
            "cuEventCreate");
  if (status.ok())
    events.push_back(event);
  return status;
}

/// Makes the stream `later` wait for the stream `earlier`. Work that is
/// enqueued on `later` after this call starts only when all work that `earlier`
/// already has is finished. The GPU waits, and the host does not wait.
///
/// The function records `event` on `earlier`, and makes `later` wait for this
/// recording. The caller may record `event` again immediately, because a new
/// recording does not change the wait.
Status CudaContext::order(CUstream earlier, CUstream later,
                          CUevent event) const {
  PCC_RETURN_IF_ERROR(
      check(functions.cuEventRecord(event, earlier), "cuEventRecord"));
  return check(functions.cuStreamWaitEvent(later, event, CU_EVENT_WAIT_DEFAULT),
               "cuStreamWaitEvent");
}

Status CudaContext::allocate(size_t bytes, void *&data) {
  data = nullptr;
  if (bytes == 0)
    return Status::success();
  CUdeviceptr address = 0;
  if (Status status =
          check(functions.cuMemAlloc(&address, bytes), "cuMemAlloc");
      status.failed())
    return status.addNote(std::to_string(bytes) +
                          " bytes were requested from " + text);
  memory.push_back(address);
  data = reinterpret_cast<void *>(address);
  return check(functions.cuMemsetD8Async(address, 0, bytes, computeStream),
               "cuMemsetD8Async");
}

Status CudaContext::allocatePinned(size_t bytes, void *&data) {
  data = nullptr;
  if (bytes == 0)
    return Status::success();
  if (Status status =
          check(functions.cuMemHostAlloc(&data, bytes, 0), "cuMemHostAlloc");
      status.failed())
    return status.addNote(std::to_string(bytes) +
                          " bytes of host memory were requested");
  pinned.push_back(data);
  std::memset(data, 0, bytes);
  return Status::success();
}

Status CudaContext::launch(CUfunction function, int64_t blocks, int64_t threads,
                           std::vector<void *> &arguments) const {
  return check(functions.cuLaunchKernel(function, unsigned(blocks), 1, 1,
                                        unsigned(threads), 1, 1,
                                        /*sharedMemBytes=*/0, computeStream,
                                        arguments.data(), nullptr),
               "cuLaunchKernel");
}

Status CudaContext::poll(CUstream stream, bool &isDone) const {
  const CUresult result = functions.cuStreamQuery(stream);
  isDone = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? Status::success()
                                        : check(result, "cuStreamQuery");
}

Status CudaContext::waitFor(CUstream stream) const {
  for (bool isDone = false;;) {
    if (Status status = poll(stream, isDone); status.failed() || isDone)
      return status;
    std::this_thread::yield();
  }
}

} // namespace pcc::runtime
