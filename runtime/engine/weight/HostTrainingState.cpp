//===- HostTrainingState.cpp - host copies of weights and optimizer state -===//

#include "runtime/engine/weight/HostTrainingState.h"

#include <algorithm>

namespace pcc::runtime {

/// Fills the list `pieces`. Each element of `pieces` describes one device
/// buffer of a tensor that training changes. The tensor is a weight or a tensor
/// of the optimizer state. A tensor has several buffers if the program reads
/// the tensor in several ways, such as whole and divided over the ranks.
///
/// The list begins with the first buffer of each tensor. All further buffers
/// come at the end of the list. For example, the tensor `w` has two buffers,
/// and the tensor `b` has one buffer. The list is then: first buffer of `w`,
/// first buffer of `b`, second buffer of `w`.
///
/// This order makes fetch() and store() simple:
///
/// - fetch() copies only the first buffer of each tensor to the host, because a
///   checkpoint needs each tensor once. These buffers are the beginning of the
///   list.
/// - store() copies from the host to all buffers, because instructions read all
///   buffers. These buffers are the whole list.
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
