//===- QueuedDevice.h - device with a queue and memory of its own ---------===//

#ifndef PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
#define PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// The functions that only a device with a queue and memory of its own has,
/// such as a GPU with its stream. Device::queued() returns them. Every function
/// may return before the work that it begins is complete; Device::poll() tells
/// when it is.
class QueuedDevice {
public:
  virtual ~QueuedDevice() = default;

  /// Begins to copy from memory of Device::allocatePinned() to device memory.
  /// The copy may run concurrently with earlier work, but not before the last
  /// copyWithin() is complete. The host must not write to `from` until a later
  /// copyWithin() is complete.
  virtual Status beginUpload(void *to, const void *from, size_t bytes) = 0;
  /// Begins copies within the device's memory. They are executed after all work
  /// and all uploads that were begun earlier, and before all that are begun
  /// later.
  virtual Status copyWithin(std::span<const DeviceCopy> copies) = 0;

  /// Begins to generate elements of a random tensor with a kernel. `kernel` is
  /// the index in `image` of a generator kernel (PccGpuCode), and `key` is
  /// RandomTensor::key. Each element's value depends on `key` and on its index
  /// in the whole tensor. The source offsets of `copies` are these indices; the
  /// target offsets say at which elements of `to` the values are stored.
  virtual Status generate(const ProgramImage &image, int32_t kernel,
                          uint64_t key, std::span<const StridedCopy> copies,
                          void *to) = 0;

  /// Begins a recording of one step (a CUDA graph). Until endRecording(), work
  /// that is begun is added to the recording and not executed.
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
