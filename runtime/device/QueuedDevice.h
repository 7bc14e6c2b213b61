//===- QueuedDevice.h - device with a queue and memory of its own ---------===//

#ifndef PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H
#define PCC_RUNTIME_DEVICE_QUEUEDDEVICE_H

#include "runtime/device/Device.h"

namespace pcc::runtime {

/// Interface of a device that has a queue and its own memory, such as a GPU. A
/// queue is a list of work that the device executes while the host continues.
/// The queue of a GPU is a CUDA stream.
///
/// A function of this class may add work to the queue, and return before the
/// work is complete. The caller can call Device::poll() to find out whether the
/// work is complete.
class QueuedDevice {
public:
  virtual ~QueuedDevice() = default;

  /// Begins an upload: a copy of `bytes` bytes from the host memory `from` to
  /// the device memory `to`. Device::allocatePinned() must have allocated
  /// `from`, so that `from` is page-locked.
  ///
  /// The device executes uploads and the copies of copyWithin() in the order of
  /// the calls. Kernels may run at the same time as an upload. Device::poll()
  /// does not report the end of an upload. `from` must stay unchanged until the
  /// copies of the next copyWithin() are complete.
  virtual Status beginUpload(void *to, const void *from, size_t bytes) = 0;
  /// Begins a download: a copy of `bytes` bytes from the device memory `from`
  /// to the host memory `to`. The memory `to` must be page-locked, which means
  /// that Device::allocatePinned() has allocated it.
  ///
  /// The function returns at once. The device executes the download later,
  /// after all work that was begun before this call, such as kernels.
  /// Exception: after a call of beginUpload(), the download may execute before
  /// the upload. If copyWithin() is called between beginUpload() and this
  /// function, the download executes after the upload.
  virtual Status beginDownload(void *to, const void *from, size_t bytes) = 0;
  /// Begins the copies in the list `copies`. Source and target of each copy are
  /// in device memory. The copies execute after all work that was begun before
  /// this call, such as kernels and uploads. Work that is begun after this call
  /// executes after the copies.
  virtual Status copyWithin(std::span<const DeviceCopy> copies) = 0;

  /// Begins to generate random elements of a tensor in the device memory `to`.
  /// The value of an element depends only on `key` and on the index of the
  /// element in the whole tensor. `key` is a hash of the random seed and of the
  /// tensor's name. `kernel` is the index in `image` of the kernel that
  /// generates the elements. `copies` are loop nests, and each iteration
  /// generates one element. The source index is the index of the element in the
  /// whole tensor. The target index is the index of the element in `to`.
  virtual Status generate(const ProgramImage &image, int32_t kernel,
                          uint64_t key, std::span<const StridedCopy> copies,
                          void *to) = 0;

  /// Begins to record the work of one step, which is one run of the program. On
  /// a GPU, the recording is a CUDA graph. Until endRecording() is called, the
  /// device does not execute the kernels and collectives that are begun. The
  /// device adds these kernels and collectives to the recording. replay()
  /// executes the recording.
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
