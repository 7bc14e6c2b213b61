//===- HostBuffers.h - host copies of input and output buffers ------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
#define PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H

#include "runtime/device/Device.h"

#include <vector>

namespace pcc::runtime {

/// Host memory for the inputs and outputs of steps. If the device shares the
/// host's memory, this memory is the device's own buffers, and no data is
/// transferred.
///
/// Otherwise (GPU) the inputs are double-buffered: the host writes and uploads
/// the inputs of step n + 1 while the device computes step n:
///
///   pinned host memory          device memory
///   nextInputs() ── send() ──> staging ── beginStep() ──> input buffers
///                   (asynchronous)        (between two steps)
///
/// beginStep() also swaps the two host copies. inputs() therefore always has
/// the elements that the current step reads.
class HostBuffers {
public:
  /// Stores references to all arguments, which must outlive this object.
  HostBuffers(const program::ProgramT &program, Device &device,
              const BufferTable &buffers)
      : program(program), device(device), queue(device.queued()),
        buffers(buffers), copies(program), spare(program), arrived(program),
        copied(program.buffers.size()) {}

  /// Allocates two pinned host copies and a device staging buffer per input
  /// that this rank reads. Does nothing if the device shares the host's memory.
  /// Exit code 13 if there is not enough memory.
  Status open();

  /// Returns the host addresses of the inputs of the current step.
  const BufferTable &inputs() const { return queue ? copies : buffers; }
  /// Returns the host addresses to which the caller writes the inputs of the
  /// next step.
  const BufferTable &nextInputs() const { return queue ? spare : buffers; }
  /// Returns whether the caller may write to nextInputs() while the current
  /// step runs. If the device shares the host's memory, there is only one copy
  /// of the inputs, and the function returns false.
  bool canWriteAhead() const { return queue; }
  /// Begins to upload nextInputs() to the device's staging buffers. Returns
  /// before the upload is complete. The host must not write to nextInputs()
  /// before the following beginStep().
  Status send();
  /// Begins the step whose inputs send() uploaded: copies them from the staging
  /// buffers to the device's input buffers. Afterwards inputs() returns the
  /// host addresses of these inputs.
  Status beginStep();

  /// Sets `data` to the host address of the elements of the output buffer
  /// `buffer` in one microbatch. Blocks until the device has completed all
  /// enqueued work. `data` is valid until the next call for the same buffer.
  Status read(int32_t buffer, int64_t microbatch, const void *&data);

private:
  /// Allocates memory for all slots of a buffer (one slot per microbatch).
  /// `allocate` is the member function of Device to call, such as
  /// Device::allocatePinned. Sets the buffer's base address in `table`.
  Status allocate(int32_t buffer, BufferTable &table,
                  Status (Device::*allocate)(int64_t, char *&));
  /// Returns the copies within device memory for every slot (one per
  /// microbatch) of every input. Table `from` has the source addresses, table
  /// `to` has the target addresses.
  std::vector<DeviceCopy> inputsFrom(const BufferTable &from,
                                     const BufferTable &to) const;
  /// Returns the size in bytes of one microbatch slot of a buffer.
  size_t bytesOf(int32_t buffer) const {
    return size_t(program.buffers[size_t(buffer)]->bytes);
  }

  const program::ProgramT &program;
  Device &device;
  /// The device's queue interface (a GPU with its stream); null if the device
  /// shares the host's memory.
  QueuedDevice *const queue;
  const BufferTable &buffers;
  /// Memory of the input buffers. `copies`: pinned host copies of the current
  /// step's inputs. `spare`: pinned host copies of the next step's inputs.
  /// `arrived`: staging buffers on the device, where uploads arrive.
  BufferTable copies, spare, arrived;
  /// Host copies of output buffers, by buffer index. A copy is allocated when
  /// the output is first read; it is empty before.
  std::vector<std::vector<std::byte>> copied;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
