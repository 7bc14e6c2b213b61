//===- HostBuffers.h - inputs and outputs as the host has them ------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
#define PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H

#include "runtime/device/Device.h"

#include <vector>

namespace pcc::runtime {

/// The buffers of inputs and outputs where the host reads and writes them:
/// those of the device if it shares the host's memory, else copies.
class HostBuffers {
public:
  /// All of these must outlive this.
  HostBuffers(const program::ProgramT &program, Device &device,
              const BufferTable &buffers)
      : program(program), device(device), buffers(buffers), copies(program),
        spare(program), arrived(program), copied(program.buffers.size()) {}

  /// Makes room for the inputs: twice, so that those of the next step can be
  /// written while the device has the step's, and on the device, where they
  /// arrive meanwhile.
  Status open();

  /// Where the host has the inputs of the step.
  const BufferTable &inputs() const {
    return device.sharesHostMemory() ? buffers : copies;
  }
  /// Where it writes those of the next one.
  const BufferTable &nextInputs() const {
    return device.sharesHostMemory() ? buffers : spare;
  }
  /// Whether that may be done during the step.
  bool canWriteAhead() const { return !device.sharesHostMemory(); }
  /// What was written begins to go to the device.
  Status send();
  /// What was sent is the step's.
  Status beginStep();

  /// What an output is in a microbatch, when all that was begun is done. Valid
  /// until the next call for that buffer.
  Status read(int32_t buffer, int64_t microbatch, const void *&data);

private:
  Status allocate(int32_t buffer, BufferTable &table,
                  Status (Device::*allocate)(int64_t, char *&));
  /// All slots of all inputs.
  std::vector<DeviceCopy> inputsFrom(const BufferTable &from,
                                     const BufferTable &to) const;
  size_t bytesOf(int32_t buffer) const {
    return size_t(program.buffers[size_t(buffer)]->bytes);
  }

  const program::ProgramT &program;
  Device &device;
  const BufferTable &buffers;
  /// Of inputs: the step's, the next one's, and these on the device.
  BufferTable copies, spare, arrived;
  /// Of outputs, when they are read first.
  std::vector<std::vector<std::byte>> copied;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_HOSTBUFFERS_H
