//===- QueuedDevice.h - device with a queue and memory of its own ---------===//

#ifndef PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
#define PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Functions of a device with a queue and separate memory, such as a GPU with
/// its stream. Functions may return before their work is complete;
/// Device::poll() reports completion.
class QueuedDevice {
public:
  virtual ~QueuedDevice() = default;

  /// Begins to copy `bytes` bytes from page-locked host memory
  /// (Device::allocatePinned) to device memory. The copy waits only for earlier
  /// copyWithin() calls, so it overlaps with kernels. `from` must stay
  /// unchanged until a later copyWithin() is complete.
  virtual Status beginUpload(void *to, const void *from, size_t bytes) = 0;
  /// Begins to copy `bytes` bytes from device memory to page-locked host
  /// memory, after all work that was begun earlier.
  virtual Status beginDownload(void *to, const void *from, size_t bytes) = 0;
  /// Begins copies within the device's memory. The copies execute after all
  /// earlier work and uploads, and before all later ones.
  virtual Status copyWithin(std::span<const DeviceCopy> copies) = 0;

  /// Begins to write a part of a random tensor to the device memory `to`:
  ///
  /// - `kernel`: index in `image` of the kernel that generates random numbers
  /// - `key`: hash of the seed and of the tensor's name
  /// - `copies`: elements to write. A source index denotes an element of the
  ///   whole tensor, a target index an element of `to`
  virtual Status generate(const ProgramImage &image, int32_t kernel,
                          uint64_t key, std::span<const StridedCopy> copies,
                          void *to) = 0;

  /// Begins a recording of one step (a CUDA graph). Until endRecording(), all
  /// work that is begun is added to the recording instead of being executed.
  virtual Status beginRecording() = 0;
  /// Ends the recording of work that beginRecording() began. The device keeps
  /// the recorded work until dropRecording().
  virtual Status endRecording() = 0;
  /// Begins to execute the work that was recorded between beginRecording() and
  /// endRecording(). May be called any number of times.
  virtual Status replay() = 0;
  /// Destroys the work that beginRecording() and endRecording() have recorded,
  /// if there is any. Communicators that this work uses must be destroyed
  /// later.
  virtual void dropRecording() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
