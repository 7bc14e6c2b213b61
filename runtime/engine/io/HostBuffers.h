//===- HostBuffers.h - host copies of input and output buffers ------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
#define PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H

#include "runtime/device/Device.h"

#include <vector>

namespace pcc::runtime {

/// Buffers that the host can access, for the inputs and outputs of a step. If
/// the device shares the host's memory, these are the buffers that the device
/// uses. On a GPU, these are additional buffers in host memory, two for each
/// input. The host uploads the inputs of the next step while the GPU computes
/// the current step. beginStep() also swaps the two host buffers:
///
///   pinned host memory          device memory
///   nextInputs() ── send() ──> staging ── beginStep() ──> input buffers
///                   (asynchronous)        (between two steps)
class HostBuffers {
public:
  /// Keeps references to all arguments, which must outlive this object.
  HostBuffers(const program::ProgramT &program, Device &device,
              const BufferTable &buffers)
      : program(program), device(device), queue(device.queued()),
        buffers(buffers), copies(program), spare(program), arrived(program),
        copied(program.buffers.size()) {}

  /// Allocates three buffers on a GPU for each input that this rank reads:
  ///
  /// - a page-locked buffer in host memory for the current step
  /// - a page-locked buffer in host memory for the next step
  /// - a buffer in device memory, to which the next step's input is uploaded
  ///
  /// Returns exit code 13 if there is not enough memory. Allocates nothing if
  /// the device shares the host's memory.
  Status open();

  /// Returns the host addresses of the inputs of the current step.
  const BufferTable &inputs() const { return queue ? copies : buffers; }
  /// Returns the host addresses for the inputs of the next step.
  const BufferTable &nextInputs() const { return queue ? spare : buffers; }
  /// Returns whether the host may write the next step's inputs while the
  /// current step runs. Returns false if the device shares the host's memory:
  /// both steps then use the same buffers.
  bool canWriteAhead() const { return queue; }
  /// Begins to upload the next step's inputs, nextInputs(), to staging buffers
  /// in device memory. The host must not change these inputs before
  /// beginStep().
  Status send();
  /// Begins the next step. Before this call, send() must have begun to upload
  /// the inputs of the next step to staging buffers in device memory. This
  /// function enqueues copies from the staging buffers to the input buffers
  /// that the device reads. After this call, inputs() returns the host
  /// addresses of these inputs. Does nothing if the device shares the host's
  /// memory.
  Status beginStep();

  /// Sets `data` to the host address of an output buffer in one microbatch.
  /// Blocks until the device has completed all enqueued work. The address is
  /// valid until the next call for the same buffer.
  Status read(int32_t buffer, int64_t microbatch, const void *&data);

private:
  /// Allocates memory for all microbatches of a buffer. `allocate` is a
  /// function of the device, such as Device::allocatePinned. Sets the buffer's
  /// base address in `table`.
  Status allocate(int32_t buffer, BufferTable &table,
                  Status (Device::*allocate)(int64_t, char *&));
  /// Returns a list of memory copies, one per input and microbatch. Each copies
  /// an input from its address in `from` to its address in `to`.
  std::vector<DeviceCopy> inputsFrom(const BufferTable &from,
                                     const BufferTable &to) const;
  /// Returns the size in bytes of a buffer in one microbatch.
  size_t bytesOf(int32_t buffer) const {
    return size_t(program.buffers[size_t(buffer)]->bytes);
  }

  const program::ProgramT &program;
  Device &device;
  /// Interface of a GPU with the functions that use the GPU's queue, such as
  /// asynchronous copies. The queue is a CUDA stream. The pointer is null if
  /// the device shares the host's memory.
  QueuedDevice *const queue;
  const BufferTable &buffers;
  /// Three tables of buffer addresses. On a GPU, each table has the address of
  /// one buffer for each input that this rank reads. On a device that shares
  /// the host's memory, the tables have no addresses.
  ///
  /// - `copies` has the addresses of page-locked buffers in host memory. These
  ///   buffers hold the inputs of the current step.
  /// - `spare` has the addresses of other page-locked buffers in host memory.
  ///   These buffers hold the inputs of the next step.
  /// - `arrived` has the addresses of buffers in device memory. send() uploads
  ///   the inputs of the next step from `spare` to `arrived`. beginStep() then
  ///   copies the inputs to the buffers that the device reads.
  BufferTable copies, spare, arrived;
  /// Host copies of output buffers, by buffer index. read() allocates the copy
  /// of a buffer.
  std::vector<std::vector<std::byte>> copied;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
