//===- LowestPositions.cpp - pipeline ranks that hold each tensor ---------===//

#include "runtime/checkpoint/LowestPositions.h"

#include "runtime/comm/BroadcastText.h"

#include <algorithm>

namespace pcc::runtime {

/// Adds one entry per tensor name in `text` to the map `lowest`. In `text`, a
/// zero byte follows each name. The value of the new entry is `position`, a
/// coordinate on the pipeline axis (mesh axis 0). If the map already has an
/// entry for a name, the entry stays unchanged. The caller calls this function
/// once per coordinate, in ascending order. The entry of a name thus has the
/// lowest coordinate.
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
      PCC_RETURN_IF_ERROR(broadcastText(world, int(position * perPosition),
                                        text,
                                        {"checkpoint", "names of tensors"}));
    addNames(text, position, lowest);
  }
  return Status::success();
}

} // namespace pcc::runtime
