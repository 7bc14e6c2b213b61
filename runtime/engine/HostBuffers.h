//===- HostBuffers.h - inputs and outputs as the host has them ------------===//

#ifndef PCC_RUNTIME_ENGINE_HOSTBUFFERS_H
#define PCC_RUNTIME_ENGINE_HOSTBUFFERS_H

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
        copied(program.buffers.size()) {}

  /// Makes room for the inputs.
  Status open();

  /// Where the host has the inputs; what it writes there, the device sees after
  /// upload().
  const BufferTable &inputs() const {
    return device.sharesHostMemory() ? buffers : copies;
  }
  /// One slot of an input.
  Status upload(int32_t buffer, int64_t slot);

  /// What an output is in a microbatch, when all that was begun is done. Valid
  /// until the next call for that buffer.
  Status read(int32_t buffer, int64_t microbatch, const void *&data);

private:
  size_t bytesOf(int32_t buffer) const {
    return size_t(program.buffers[size_t(buffer)]->bytes);
  }

  const program::ProgramT &program;
  Device &device;
  const BufferTable &buffers;
  BufferTable copies; ///< of inputs
  /// Of outputs, when they are read first.
  std::vector<std::vector<std::byte>> copied;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_HOSTBUFFERS_H
