//===- QueuedDevice.h - device with a queue and memory of its own ---------===//

#ifndef PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
#define PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Functions of a device with a queue and separate memory, such as a GPU with
/// its stream. Device::queued() returns this interface. Every function may
/// return before the work that it begins is complete. Device::poll() returns
/// whether the work is complete.
class QueuedDevice {
public:
  virtual ~QueuedDevice() = default;

  /// Begins to copy `bytes` bytes from page-locked host memory
  /// (Device::allocatePinned) to device memory. The copy waits for earlier
  /// calls of copyWithin(), but may overlap with all other earlier work. The
  /// host must not overwrite `from` until a later copyWithin() is complete.
  virtual Status beginUpload(void *to, const void *from, size_t bytes) = 0;
  /// Begins to copy `bytes` bytes from device memory to page-locked host
  /// memory, after all work that was begun earlier.
  virtual Status beginDownload(void *to, const void *from, size_t bytes) = 0;
  /// Begins copies within the device's memory. The copies are executed after
  /// all work and uploads that were begun earlier. All work and uploads that
  /// are begun later wait for the copies.
  virtual Status copyWithin(std::span<const DeviceCopy> copies) = 0;

  /// Begins to generate elements of a random tensor in the memory `to`. Each
  /// element's value depends on `key` (RandomTensor::key) and on the element's
  /// index in the whole tensor. `kernel` is the index in `image` of a generator
  /// kernel (PccGpuCode). Each entry of `copies` maps indices in the whole
  /// tensor (source) to indices in `to` (target).
  virtual Status generate(const ProgramImage &image, int32_t kernel,
                          uint64_t key, std::span<const StridedCopy> copies,
                          void *to) = 0;

  /// Begins a recording of one step (a CUDA graph). Until endRecording(), all
  /// work that is begun is added to the recording instead of being executed.
  virtual Status beginRecording() = 0;
  /// Ends the recording, which the device keeps until dropRecording().
  virtual Status endRecording() = 0;
  /// Begins to execute the recorded work. May be called any number of times.
  virtual Status replay() = 0;
  /// Destroys the recording, if there is one. Must be called before the
  /// destruction of the communicators that the recorded work uses.
  virtual void dropRecording() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
