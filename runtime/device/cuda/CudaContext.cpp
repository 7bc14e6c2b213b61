//===- CudaContext.cpp - a GPU, its memory and its streams ----------------===//

#include "runtime/device/cuda/CudaContext.h"

#include <chrono>
#include <thread>

namespace pcc::runtime {

CudaContext::~CudaContext() {
  if (!context)
    return;
  if (computeStream)
    functions.cuStreamDestroy(computeStream);
  for (CUdeviceptr address : memory)
    functions.cuMemFree(address);
  for (void *address : pinned)
    functions.cuMemFreeHost(address);
  functions.cuDevicePrimaryCtxRelease(device);
}

Status CudaContext::describe() {
  char name[128] = "";
  int major = 0, minor = 0;
  if (Status status =
          check(functions.cuDeviceGetName(name, sizeof name, device),
                "cuDeviceGetName");
      status.failed())
    return status;
  const auto attribute = [&](int &value, CUdevice_attribute which) {
    return check(functions.cuDeviceGetAttribute(&value, which, device),
                 "cuDeviceGetAttribute");
  };
  if (Status status =
          attribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
      status.failed())
    return status;
  if (Status status =
          attribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
      status.failed())
    return status;
  capabilityNumber = major * 10 + minor;
  text = "GPU " + std::to_string(device) + " (" + name +
         ", compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ")";
  return Status::success();
}

Status CudaContext::open(int number) {
  if (Status status = openCudaDriver(functions); status.failed())
    return status;
  int count = 0;
  if (Status status =
          check(functions.cuDeviceGetCount(&count), "cuDeviceGetCount");
      status.failed())
    return status;
  if (number >= count)
    return Status::error(NoDevice, "local rank " + std::to_string(number) +
                                       " needs a GPU of its own, but the "
                                       "driver sees " +
                                       std::to_string(count));
  if (Status status =
          check(functions.cuDeviceGet(&device, number), "cuDeviceGet");
      status.failed())
    return status;
  if (Status status = describe(); status.failed())
    return status;
  // Libraries that use CUDA's runtime are in the primary context, too.
  if (Status status =
          check(functions.cuDevicePrimaryCtxRetain(&context, device),
                "cuDevicePrimaryCtxRetain");
      status.failed())
    return status;
  if (Status status =
          check(functions.cuCtxSetCurrent(context), "cuCtxSetCurrent");
      status.failed())
    return status;
  return check(functions.cuStreamCreate(&computeStream, CU_STREAM_NON_BLOCKING),
               "cuStreamCreate");
}

Status CudaContext::allocate(size_t bytes, void *&data) {
  data = nullptr;
  if (bytes == 0)
    return Status::success();
  CUdeviceptr address = 0;
  if (Status status =
          check(functions.cuMemAlloc(&address, bytes), "cuMemAlloc");
      status.failed())
    return status.addNote(std::to_string(bytes) + " bytes were asked of " +
                          text);
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
    return status.addNote(std::to_string(bytes) + " bytes of the host's "
                                                  "memory were asked for");
  pinned.push_back(data);
  return Status::success();
}

/// Short waits end at once, long ones cost no core.
Status CudaContext::waitFor(CUstream stream, double seconds) const {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const CUresult result = functions.cuStreamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY)
      return check(result, "cuStreamQuery");
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > seconds)
      return Status::error(PeerLost, text + " was not done after " +
                                         std::to_string(int64_t(seconds)) +
                                         " s");
    if (waited.count() > 1e-3)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (waited.count() > 2e-5)
      std::this_thread::yield();
  }
}

} // namespace pcc::runtime
