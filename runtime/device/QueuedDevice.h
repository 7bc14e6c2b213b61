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

  /// Begins an upload: a copy of `bytes` bytes from the host memory `from` to
  /// the device memory `to`. The memory `from` must be page-locked
  /// (allocated by Device::allocatePinned()). copyWithin() copies from device
  /// memory to device memory. Calls of copyWithin() determine when an upload
  /// executes:
  ///
  /// - An upload executes after the copies of all earlier copyWithin() calls.
  /// - An upload may execute at the same time as kernels that were begun after
  ///   the last copyWithin() call.
  /// - An upload executes before the copies of the next copyWithin() call. The
  ///   memory `from` must stay unchanged until these copies are complete.
  virtual Status beginUpload(void *to, const void *from, size_t bytes) = 0;
  /// Begins to copy `bytes` bytes from device memory to page-locked host
  /// memory, after all work that was begun earlier.
  virtual Status beginDownload(void *to, const void *from, size_t bytes) = 0;
  /// Begins the copies in the list `copies`. Source and target of each copy are
  /// in device memory. The copies execute after all work that was begun before
  /// this call, such as kernels and uploads. Work that is begun after this call
  /// executes after the copies.
  virtual Status copyWithin(std::span<const DeviceCopy> copies) = 0;

  /// Begins to generate elements of a random tensor. The device stores the
  /// elements in the device memory `to`. The value of an element depends only
  /// on `key` and on the index of the element in the whole tensor.
  ///
  /// - `image`: compiled kernels of the program
  /// - `kernel`: index in `image` of the kernel that generates the elements
  /// - `key`: hash of the seed and of the tensor's name
  /// - `copies`: loop nests. Each iteration of the innermost loop generates one
  ///   element. The source index of the iteration is the index of the element
  ///   in the whole tensor. The target index of the iteration is the index at
  ///   which the element is stored in `to`. For example, source index 16 and
  ///   target index 0 store element 16 of the tensor at the beginning of `to`.
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
  /// Destroys the recorded work (the CUDA graph), if there is any. Recorded
  /// collectives use communicators, such as the communicators of NCCL. The
  /// communicators must be destroyed after the recorded work.
  virtual void dropRecording() = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
