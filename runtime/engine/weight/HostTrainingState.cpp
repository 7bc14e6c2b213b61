//===- HostTrainingState.cpp - host copies of weights and optimizer state -===//

#include "runtime/engine/weight/HostTrainingState.h"

#include <algorithm>

namespace pcc::runtime {

/// Fills the list `pieces` with the device buffers of all tensors that training
/// changes: weights and optimizer state. A tensor has several buffers if the
/// program reads the tensor in several ways, such as whole and sharded.
///
/// The list begins with the first buffers of all tensors. fetch() copies only
/// these to the host, because a checkpoint needs each tensor once. store()
/// copies from the host to all buffers.
HostTrainingState::HostTrainingState(const program::ProgramT &program,
                                     Device &device, const BufferTable &buffers)
    : device(device) {
  struct Placement {
    const program::ParameterT *parameter;
    void *data;
  };
  std::vector<Placement> placements, further;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const program::BufferT &buffer = *program.buffers[i];
    if (buffer.memory != program::Memory::Parameter)
      continue;
    const program::ParameterT &parameter =
        *program.parameters[size_t(buffer.index)];
    if (!parameter.trainable)
      continue;
    const bool isKnown = std::any_of(
        placements.begin(), placements.end(), [&](const Placement &other) {
          return other.parameter->name == parameter.name;
        });
    (isKnown ? further : placements)
        .push_back({&parameter, static_cast<char *>(buffers.at(int32_t(i), 0)) -
                                    buffer.offset});
  }
  once = placements.size();
  placements.insert(placements.end(), further.begin(), further.end());
  const Mesh mesh = meshOf(program);
  for (const Placement &placement : placements) {
    pieces.push_back(stateTensorOf(*placement.parameter, mesh, placement.data));
    bytes.push_back(placement.parameter->local_bytes);
    onDevice.push_back(placement.data);
  }
}

Status HostTrainingState::open() {
  if (isOpen || device.sharesHostMemory())
    return Status::success();
  for (size_t i = 0; i < pieces.size(); ++i) {
    char *data = nullptr;
    PCC_RETURN_IF_ERROR(device.allocatePinned(bytes[i], data));
    pieces[i].data = data;
  }
  isOpen = true;
  return Status::success();
}

Status HostTrainingState::fetch() {
  if (device.sharesHostMemory())
    return Status::success();
  for (size_t i = 0; i < once; ++i)
    PCC_RETURN_IF_ERROR(
        device.download(pieces[i].data, onDevice[i], size_t(bytes[i])));
  return Status::success();
}

Status HostTrainingState::store() {
  if (device.sharesHostMemory())
    return Status::success();
  for (size_t i = 0; i < pieces.size(); ++i)
    PCC_RETURN_IF_ERROR(
        device.upload(onDevice[i], pieces[i].data, size_t(bytes[i])));
  return Status::success();
}

} // namespace pcc::runtime
