//===- HostBuffers.cpp - inputs and outputs as the host has them ----------===//

#include "runtime/engine/HostBuffers.h"

#include <utility>

namespace pcc::runtime {

Status HostBuffers::open() {
  if (device.sharesHostMemory())
    return Status::success();
  for (const auto &input : program.inputs) {
    if (input->buffer < 0)
      continue;
    const program::BufferT &buffer = *program.buffers[size_t(input->buffer)];
    for (BufferTable *table : {&copies, &spare}) {
      char *data = nullptr;
      if (Status status = device.allocateOfHost(
              (buffer.slots - 1) * buffer.slot_stride + buffer.bytes, data);
          status.failed())
        return status;
      table->setBase(input->buffer, data);
    }
  }
  return Status::success();
}

Status HostBuffers::beginStep() {
  if (device.sharesHostMemory())
    return Status::success();
  std::swap(copies, spare);
  for (const auto &input : program.inputs) {
    const int32_t buffer = input->buffer;
    if (buffer < 0)
      continue;
    for (int32_t slot = 0; slot < program.buffers[size_t(buffer)]->slots;
         ++slot)
      if (Status status =
              device.beginUpload(buffers.at(buffer, slot),
                                 copies.at(buffer, slot), bytesOf(buffer));
          status.failed())
        return status;
  }
  return Status::success();
}

Status HostBuffers::read(int32_t buffer, int64_t microbatch,
                         const void *&data) {
  const void *const there = buffers.at(buffer, microbatch);
  data = there;
  if (device.sharesHostMemory())
    return Status::success();
  std::vector<std::byte> &copy = copied[size_t(buffer)];
  copy.resize(bytesOf(buffer));
  data = copy.data();
  return device.download(copy.data(), there, copy.size());
}

} // namespace pcc::runtime
