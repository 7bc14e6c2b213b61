//===- HostBuffers.h - host copies of input and output buffers ------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
#define PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H

#include "runtime/device/Device.h"

#include <vector>

namespace pcc::runtime {

/// Host memory for the inputs and outputs of steps. If the device shares the
/// host's memory, this is the device's own buffers, and every transfer is a
/// no-op. Otherwise inputs are double-buffered, so that the host writes and
/// uploads the inputs of step n + 1 while the device computes step n:
///
///   pinned host memory          device memory
///   nextInputs() ── send() ──> staging ── beginStep() ──> input buffers
///                   (asynchronous)        (between two steps)
///
/// beginStep() also swaps the two host copies, so inputs() is what the device
/// has.
class HostBuffers {
public:
  /// Borrows all arguments; they must outlive this object.
  HostBuffers(const program::ProgramT &program, Device &device,
              const BufferTable &buffers)
      : program(program), device(device), buffers(buffers), copies(program),
        spare(program), arrived(program), copied(program.buffers.size()) {}

  /// Allocates two pinned host copies and a device staging buffer per input
  /// that this rank reads. Does nothing if the device shares the host's memory.
  /// Exit code 13 if there is not enough memory.
  Status open();

  /// Returns the host addresses of the inputs of the current step.
  const BufferTable &inputs() const {
    return device.sharesHostMemory() ? buffers : copies;
  }
  /// Returns the host addresses where the inputs of the next step are written.
  const BufferTable &nextInputs() const {
    return device.sharesHostMemory() ? buffers : spare;
  }
  /// Returns whether nextInputs() may be written while the current step runs.
  bool canWriteAhead() const { return !device.sharesHostMemory(); }
  /// Begins to upload nextInputs() to the device. The host must not write that
  /// memory before the following beginStep().
  Status send();
  /// Makes the inputs uploaded by send() those of the current step.
  Status beginStep();

  /// Sets `data` to the host address of an output's elements in one microbatch,
  /// after all work enqueued on the device is done. `data` is valid until the
  /// next call for the same buffer.
  Status read(int32_t buffer, int64_t microbatch, const void *&data);

private:
  /// Allocates all microbatch slots of a buffer with a member function of
  /// Device, and enters the address into `table`.
  Status allocate(int32_t buffer, BufferTable &table,
                  Status (Device::*allocate)(int64_t, char *&));
  /// Returns the copies that move every slot of every input between two tables.
  std::vector<DeviceCopy> inputsFrom(const BufferTable &from,
                                     const BufferTable &to) const;
  /// Returns the bytes of one slot of a buffer.
  size_t bytesOf(int32_t buffer) const {
    return size_t(program.buffers[size_t(buffer)]->bytes);
  }

  const program::ProgramT &program;
  Device &device;
  const BufferTable &buffers;
  /// Input buffers: pinned copies for the current step and for the next one,
  /// and the device staging buffers of the upload.
  BufferTable copies, spare, arrived;
  /// Per buffer, the host copy of an output; allocated when it is first read.
  std::vector<std::vector<std::byte>> copied;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
