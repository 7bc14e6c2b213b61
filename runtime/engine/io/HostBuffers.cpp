//===- HostBuffers.cpp - host copies of input and output buffers ----------===//

#include "runtime/engine/io/HostBuffers.h"
#include "runtime/device/QueuedDevice.h"

#include <utility>

namespace pcc::runtime {

Status HostBuffers::allocate(int32_t buffer, BufferTable &table,
                             Status (Device::*allocate)(int64_t, char *&)) {
  const program::BufferT &own = *program.buffers[size_t(buffer)];
  char *data = nullptr;
  Status status =
      (device.*allocate)((own.slots - 1) * own.slot_stride + own.bytes, data);
  table.setBase(buffer, data);
  return status;
}

/// Allocates three buffers per input on a GPU: two buffers in host memory for
/// the current and the next step, and one staging buffer in device memory.
/// Allocates nothing if the device shares the host's memory.
///
/// An input has the buffer index -1 if only ranks of other pipeline stages read
/// the input. This rank allocates nothing for such an input.
Status HostBuffers::open() {
  if (!queue)
    return Status::success();
  for (const auto &input : program.inputs) {
    if (input->buffer < 0)
      continue;
    for (BufferTable *table : {&copies, &spare})
      PCC_RETURN_IF_ERROR(
          allocate(input->buffer, *table, &Device::allocatePinned));
    PCC_RETURN_IF_ERROR(allocate(input->buffer, arrived, &Device::allocate));
  }
  return Status::success();
}

std::vector<DeviceCopy> HostBuffers::inputsFrom(const BufferTable &from,
                                                const BufferTable &to) const {
  std::vector<DeviceCopy> copies;
  for (const auto &input : program.inputs)
    if (const int32_t buffer = input->buffer; buffer >= 0)
      for (int32_t slot = 0; slot < program.buffers[size_t(buffer)]->slots;
           ++slot)
        copies.push_back(
            {to.at(buffer, slot), from.at(buffer, slot), bytesOf(buffer)});
  return copies;
}

/// Uploads the next step's inputs to staging buffers, because the device may
/// still read the current step's inputs from the input buffers.
Status HostBuffers::send() {
  if (!queue)
    return Status::success();
  for (const auto &[to, from, bytes] : inputsFrom(spare, arrived))
    PCC_RETURN_IF_ERROR(queue->beginUpload(to, from, bytes));
  return Status::success();
}

/// Begins the next step. A GPU has two buffers per input in its own memory: a
/// staging buffer and an input buffer. send() uploads the inputs of the next
/// step to the staging buffers. Kernels read the input buffers. This function
/// enqueues copies from the staging buffers to the input buffers, and returns
/// at once. The GPU executes the copies after two events: the end of the
/// previous step, and the end of the upload to the staging buffers.
///
/// The host also has two buffers per input. One buffer has the input of the
/// current step, and the other buffer has the input of the next step. The
/// function swaps these two buffers.
///
/// Does nothing if the device shares the host's memory.
Status HostBuffers::beginStep() {
  if (!queue)
    return Status::success();
  std::swap(copies, spare);
  return queue->copyWithin(inputsFrom(arrived, buffers));
}

Status HostBuffers::read(int32_t buffer, int64_t microbatch,
                         const void *&data) {
  const void *const there = buffers.at(buffer, microbatch);
  data = there;
  if (!queue)
    return Status::success();
  std::vector<std::byte> &copy = copied[size_t(buffer)];
  copy.resize(bytesOf(buffer));
  data = copy.data();
  return device.download(copy.data(), there, copy.size());
}

} // namespace pcc::runtime
