//===- FakeDriver.cpp - the driver's functions, over a GPU that is not there
//===//

#include "runtime/program/TensorTable.h"
#include "runtime/tensor/RandomValues.h"
#include "test/runtime/fake/cuda/FakeGpu.h"
#include "test/runtime/fake/cuda/HostKernels.h"

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace pcc::fake;

namespace {
/// Guard of a call: no other call runs at the same time.
struct Call {
  FakeGpu &gpu = FakeGpu::get();
  std::lock_guard<std::recursive_mutex> lock{gpu.mutex};

  CUresult fail(CUresult result, std::string why) {
    gpu.error = std::move(why);
    return result;
  }
};
} // namespace

static Stream &streamOf(CUstream stream) {
  return *reinterpret_cast<Stream *>(stream);
}
static uintptr_t numberOf(const void *data) {
  return reinterpret_cast<uintptr_t>(data);
}
static char *pointerTo(CUdeviceptr address) {
  return reinterpret_cast<char *>(address);
}

/// Gives a stream a task that uses memory of the GPU, or rejects it.
static CUresult giveTask(Call &call, CUstream stream, const std::string &name,
                         std::span<const Access> ofGpu,
                         std::function<void()> work) {
  for (const Access &access : ofGpu)
    if (access.bytes > 0 &&
        !call.gpu.holds(reinterpret_cast<const void *>(access.begin),
                        access.bytes))
      return call.fail(CUDA_ERROR_ILLEGAL_ADDRESS,
                       name + " uses memory that is not the GPU's");
  Work once = [work = std::move(work)] {
    work();
    return true;
  };
  return call.gpu.give(streamOf(stream), name, ofGpu, [once] { return once; })
             ? CUDA_SUCCESS
             : CUDA_ERROR_ILLEGAL_STATE;
}

extern "C" {

// Start of the driver, and properties of GPUs.

CUresult cuInit(unsigned) {
  return settings().count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuDriverGetVersion(int *version) {
  *version = int(settings().driver);
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char **name) {
  static const std::map<CUresult, const char *> names = {
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE"},
      {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
      {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(error);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  static thread_local std::string said;
  said = FakeGpu::get().error;
  *text = said.c_str();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  *count = int(settings().count);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return ordinal < settings().count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  std::strncpy(name, "fake", size_t(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice device) {
  std::snprintf(text, size_t(size), "0000:%02x:00.0",
                unsigned(settings().bus + device));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice) {
  const auto capability = int(settings().capability);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = capability / 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = capability % 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = pcc::fake::numMultiprocessors;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  FakeGpu::get().bus = settings().bus + device;
  *context = reinterpret_cast<CUcontext>(&FakeGpu::get());
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }

// Memory.

static CUresult refuseFrozen(Call &call) {
  return call.fail(CUDA_ERROR_ILLEGAL_STATE, "a step allocates");
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  Call call;
  static int64_t allocations = 0;
  if (call.gpu.isFrozen())
    return refuseFrozen(call);
  void *data = ++allocations == settings().noMemoryAt
                   ? nullptr
                   : call.gpu.allocate(bytes);
  *address = reinterpret_cast<CUdeviceptr>(data);
  return data ? CUDA_SUCCESS
              : call.fail(CUDA_ERROR_OUT_OF_MEMORY, "out of memory");
}
CUresult cuMemFree(CUdeviceptr address) {
  Call call;
  return call.gpu.free(pointerTo(address))
             ? CUDA_SUCCESS
             : call.fail(CUDA_ERROR_INVALID_VALUE, "no such memory");
}
CUresult cuMemHostAlloc(void **data, size_t bytes, unsigned) {
  Call call;
  if (call.gpu.isFrozen())
    return refuseFrozen(call);
  *data = std::malloc(bytes);
  call.gpu.pin(*data, bytes);
  return *data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void *data) {
  Call call;
  call.gpu.unpin(data);
  std::free(data);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream) {
  Call call;
  static int64_t copies = 0;
  if (call.gpu.hasReplayed() && !call.gpu.isPinned(from, bytes))
    return call.fail(CUDA_ERROR_ILLEGAL_STATE,
                     "a step copies from memory that is not pinned");
  const Access access{to, bytes, true};
  const std::string given(static_cast<const char *>(from), bytes);
  const auto copy = [=, &gpu = call.gpu] {
    if (std::memcmp(from, given.data(), bytes) != 0)
      gpu.fault = "the host changed what a copy had not read yet";
    std::memcpy(pointerTo(to), from, bytes);
  };
  if (++copies != settings().lateCopy)
    return giveTask(call, stream, "a copy from the host", {&access, 1}, copy);
  // The task runs in a stream of its own, which `stream` does not know.
  return giveTask(call, reinterpret_cast<CUstream>(call.gpu.createStream()),
                  "a late copy from the host", {&access, 1}, copy);
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  Call call;
  const Access access{from, bytes, false};
  return giveTask(call, stream, "a copy to the host", {&access, 1},
                  [=] { std::memcpy(to, pointerTo(from), bytes); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  Call call;
  const Access accesses[] = {{from, bytes, false}, {to, bytes, true}};
  return giveTask(call, stream, "a copy", accesses,
                  [=] { std::memmove(pointerTo(to), pointerTo(from), bytes); });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  Call call;
  const CUDA_MEMCPY2D made = *copy;
  if (made.srcMemoryType != CU_MEMORYTYPE_DEVICE ||
      made.dstMemoryType != CU_MEMORYTYPE_DEVICE ||
      made.srcPitch < made.WidthInBytes || made.dstPitch < made.WidthInBytes)
    return call.fail(CUDA_ERROR_INVALID_VALUE, "no such copy of rows");
  const auto span = [&](size_t pitch) {
    return (made.Height - 1) * pitch + made.WidthInBytes;
  };
  const Access accesses[] = {{made.srcDevice, span(made.srcPitch), false},
                             {made.dstDevice, span(made.dstPitch), true}};
  return giveTask(call, stream, "a copy of rows", accesses, [=] {
    for (size_t row = 0; row < made.Height; ++row)
      std::memmove(pointerTo(made.dstDevice) + row * made.dstPitch,
                   pointerTo(made.srcDevice) + row * made.srcPitch,
                   made.WidthInBytes);
  });
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value,
                            size_t width, size_t height, CUstream stream) {
  Call call;
  const Access access{to, pitch * (height - 1) + width * sizeof value, true};
  return giveTask(call, stream, "a fill", {&access, 1}, [=] {
    for (size_t row = 0; row < height; ++row)
      for (size_t i = 0; i < width; ++i)
        std::memcpy(pointerTo(to) + row * pitch + i * sizeof value, &value,
                    sizeof value);
  });
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                          CUstream stream) {
  return cuMemsetD2D32Async(to, 0, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                          CUstream stream) {
  Call call;
  const Access access{to, count * sizeof value, true};
  return giveTask(call, stream, "a fill", {&access, 1}, [=] {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(pointerTo(to) + i * sizeof value, &value, sizeof value);
  });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream stream) {
  Call call;
  const Access access{to, count, true};
  return giveTask(call, stream, "a fill", {&access, 1},
                  [=] { std::memset(pointerTo(to), value, count); });
}

// Streams.

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  Call call;
  if (call.gpu.isFrozen())
    return refuseFrozen(call);
  *stream = reinterpret_cast<CUstream>(call.gpu.createStream());
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  Call call;
  call.gpu.destroyStream(&streamOf(stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  Call call;
  call.gpu.await(streamOf(stream), *reinterpret_cast<Event *>(event));
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  Call call;
  if (call.gpu.isFrozen())
    return refuseFrozen(call);
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete reinterpret_cast<Event *>(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  Call call;
  call.gpu.record(*reinterpret_cast<Event *>(event), streamOf(stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address,
                              cuuint32_t value, unsigned) {
  Call call;
  // The word is in host memory.
  return giveTask(call, stream, "a word", {}, [=] {
    std::memcpy(pointerTo(address), &value, sizeof value);
  });
}
CUresult cuStreamQuery(CUstream stream) {
  Call call;
  if (call.gpu.isCaptured(streamOf(stream)))
    return call.fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                     "a captured stream was asked how far it is");
  const bool isDone = call.gpu.isDone(streamOf(stream));
  if (!call.gpu.fault.empty())
    return call.fail(CUDA_ERROR_ILLEGAL_STATE, call.gpu.fault);
  return isDone ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

// Graphs.

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  Call call;
  call.gpu.beginCapture(streamOf(stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream, CUgraph *graph) {
  Call call;
  *graph = reinterpret_cast<CUgraph>(call.gpu.endCapture().release());
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph,
                                     unsigned long long) {
  *made = reinterpret_cast<CUgraphExec>(
      new Recording(*reinterpret_cast<Recording *>(graph)));
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Recording *>(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  delete reinterpret_cast<Recording *>(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  Call call;
  return call.gpu.replay(*reinterpret_cast<Recording *>(graph),
                         streamOf(stream))
             ? CUDA_SUCCESS
             : CUDA_ERROR_ILLEGAL_STATE;
}

// Kernels.

CUresult cuModuleLoadDataEx(CUmodule *module, const void *code, unsigned,
                            CUjit_option *, void **) {
  Call call;
  std::string error;
  auto loaded = HostKernelModule::load(code, int(settings().capability), error);
  if (!loaded)
    return call.fail(CUDA_ERROR_INVALID_IMAGE, error);
  *module = reinterpret_cast<CUmodule>(loaded.release());
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  Call call;
  const HostKernel *twin =
      reinterpret_cast<HostKernelModule *>(module)->find(name);
  *function = reinterpret_cast<CUfunction>(const_cast<HostKernel *>(twin));
  return twin ? CUDA_SUCCESS : call.fail(CUDA_ERROR_NOT_FOUND, name);
}

CUresult cuFuncLoad(CUfunction) { return CUDA_SUCCESS; }

/// Runs the twin of a kernel on these buffers.
static CUresult giveKernel(Call &call, const HostKernel &twin, CUstream stream,
                           const std::vector<void *> &buffers,
                           const std::vector<int64_t> &scalars,
                           std::span<const Access> accesses) {
  for (const Access &access : accesses)
    if (access.begin % 16 != 0 && access.bytes > 0)
      return call.fail(CUDA_ERROR_INVALID_VALUE,
                       twin.name + " has a buffer that is not aligned to 16");
  return giveTask(call, stream, twin.name, accesses, [&twin, buffers, scalars] {
    twin.function(buffers.data(), scalars.data(), 0, twin.launch->extent);
  });
}

/// Runs `threads` threads that generate random weights, one element each.
static CUresult launchRandom(Call &call, const HostKernel &twin,
                             int64_t threads, CUstream stream,
                             void **arguments) {
  using pcc::runtime::RandomScalars;
  void *target = nullptr;
  std::memcpy(static_cast<void *>(&target), arguments[0], sizeof target);
  constexpr size_t count = sizeof(RandomScalars) / sizeof(int64_t);
  std::vector<int64_t> scalars(count);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(&scalars[i], arguments[1 + i], sizeof(int64_t));
  RandomScalars part;
  std::memcpy(&part, scalars.data(), sizeof part);
  int64_t elements = 1, last = part.targetOffset;
  for (const auto &loop : part.loops) {
    elements *= loop.extent;
    last += (loop.extent - 1) * loop.targetStride;
  }
  if (threads < elements || threads - elements >= RandomScalars::threads)
    return call.fail(CUDA_ERROR_INVALID_VALUE,
                     twin.name + " is launched with another grid");
  const size_t size = twin.randomElement;
  const Access access{numberOf(target) + size_t(part.targetOffset) * size,
                      size_t(last + 1 - part.targetOffset) * size, true};
  return giveTask(call, stream, twin.name, {&access, 1},
                  [&twin, target, scalars, elements] {
                    void *const buffers[] = {target};
                    twin.function(buffers, scalars.data(), 0, elements);
                  });
}

/// Runs a kernel over many tensors, which are in a table that is passed by
/// value. Parts after the last block are ignored.
static CUresult launchParts(Call &call, const HostKernel &twin, int64_t blocks,
                            CUstream stream, void **arguments) {
  using pcc::runtime::TensorTable;
  const auto numTensors = int64_t(twin.tensors.size());
  const auto table = TensorTable::largest(numTensors, twin.launch->shared);
  std::vector<int64_t> words(size_t(table.words()));
  std::memcpy(words.data(), arguments[0], words.size() * sizeof(int64_t));
  std::vector<int64_t> scalars = {0};
  int64_t tiles = 0, parts = 0;
  for (; parts < table.parts; ++parts) {
    const int64_t first = words[size_t(TensorTable::firstAt(parts))];
    if (first >= blocks)
      break;
    if (first != tiles)
      return call.fail(CUDA_ERROR_INVALID_VALUE,
                       twin.name + " has a part that begins elsewhere");
    scalars.push_back(words[size_t(table.elementsAt(parts))]);
    tiles += (scalars.back() + twin.launch->tile - 1) / twin.launch->tile;
  }
  if (tiles != blocks)
    return call.fail(CUDA_ERROR_INVALID_VALUE,
                     twin.name + " is launched with another grid");
  scalars[0] = parts;
  std::vector<void *> buffers;
  std::vector<Access> accesses;
  for (int32_t i = 0; i < twin.launch->shared; ++i) {
    std::memcpy(static_cast<void *>(&buffers.emplace_back()), arguments[1 + i],
                sizeof(void *));
    accesses.push_back({numberOf(buffers.back()), twin.bytes[size_t(i)],
                        /*writes=*/false});
  }
  for (int64_t tensor = 0; tensor < numTensors; ++tensor)
    for (int64_t part = 0; part < parts; ++part) {
      std::memcpy(static_cast<void *>(&buffers.emplace_back()),
                  &words[size_t(table.addressAt(part, tensor))],
                  sizeof(void *));
      const HostKernel::Tensor &own = twin.tensors[size_t(tensor)];
      accesses.push_back({numberOf(buffers.back()),
                          size_t(scalars[size_t(1 + part)]) * own.element,
                          own.isResult});
    }
  return giveKernel(call, twin, stream, buffers, scalars, accesses);
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z,
                        unsigned threads, unsigned, unsigned, unsigned,
                        CUstream stream, void **arguments, void **) {
  Call call;
  static int64_t launches = 0;
  if (++launches == settings().failAt)
    return call.fail(CUDA_ERROR_LAUNCH_FAILED, "a launch that was to fail");
  while (launches == settings().hangAt)
    pause();
  const HostKernel &twin = *reinterpret_cast<const HostKernel *>(function);
  if (twin.randomElement > 0)
    return launchRandom(call, twin, int64_t(x) * threads, stream, arguments);
  if (!twin.tensors.empty())
    return launchParts(call, twin, x, stream, arguments);
  const auto &launch = *twin.launch;
  if (x != unsigned(launch.blocks) || y * z != 1 ||
      threads != unsigned(launch.threads))
    return call.fail(CUDA_ERROR_INVALID_VALUE,
                     twin.name + " is launched with another grid");
  std::vector<void *> buffers(twin.bytes.size());
  std::vector<int64_t> scalars(launch.scalars.size());
  std::vector<Access> accesses;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::memcpy(static_cast<void *>(&buffers[i]), arguments[i], sizeof(void *));
    // A buffer that is read first may be written in place.
    accesses.push_back({numberOf(buffers[i]), twin.bytes[i],
                        i >= buffers.size() - size_t(launch.num_results)});
  }
  for (size_t i = 0; i < scalars.size(); ++i)
    std::memcpy(&scalars[i], arguments[buffers.size() + i], sizeof(int64_t));
  return giveKernel(call, twin, stream, buffers, scalars, accesses);
}

} // extern "C"
