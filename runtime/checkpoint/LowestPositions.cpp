//===- LowestPositions.cpp - pipeline positions that hold each tensor -----===//

#include "runtime/checkpoint/LowestPositions.h"

#include <algorithm>

namespace pcc::runtime {

/// Sets `text` on all ranks to the text of rank `root`. `all` is the group of
/// all ranks, the only group that always accepts host memory.
static Status spread(Group &all, int root, std::string &text) {
  const ActionId action{"checkpoint", "names of tensors"};
  auto length = int64_t(text.size());
  PCC_RETURN_IF_ERROR(all.broadcast(&length, sizeof length, root, action));
  text.resize(size_t(length));
  return all.broadcast(text.data(), text.size(), root, action);
}

/// Adds the tensor names in `text`, each terminated by a zero byte, to the map
/// `lowest`, with the pipeline coordinate `position`. Does not change existing
/// entries, because the caller adds the names of lower coordinates first.
static void addNames(const std::string &text, int64_t position,
                     LowestPositions &lowest) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    lowest.try_emplace(text.substr(begin, end - begin), position);
    begin = end + 1;
  }
}

Status findLowestPositions(std::span<const StateTensor> tensors,
                           const Mesh &mesh, World &world,
                           LowestPositions &lowest) {
  std::string names;
  for (const StateTensor &tensor : tensors)
    names += tensor.name + '\0';
  const int64_t perPosition = numRanks(mesh) / mesh.axes[0].size;
  for (int64_t position = 0; position < mesh.axes[0].size; ++position) {
    std::string text = names;
    if (mesh.axes[0].size > 1)
      PCC_RETURN_IF_ERROR(
          spread(world.all(), int(position * perPosition), text));
    addNames(text, position, lowest);
  }
  return Status::success();
}

} // namespace pcc::runtime
