//===- TensorNames.cpp - which positions hold which tensors ---------------===//

#include "runtime/checkpoint/TensorNames.h"

#include <algorithm>

namespace pcc::runtime {

/// The group of the ranks that differ from this one in their position only.
static Status createColumn(const Mesh &mesh, World &world,
                           std::unique_ptr<Group> &column) {
  const auto perPosition = int(mesh.numRanks() / mesh.sizes[0]);
  std::vector<std::vector<int>> members;
  members.resize(size_t(perPosition));
  for (int rank = 0; rank < int(mesh.numRanks()); ++rank)
    members[size_t(rank % perPosition)].push_back(rank);
  std::vector<std::unique_ptr<Group>> created;
  if (Status status = world.createGroups(members, created); status.failed())
    return status;
  column = std::move(created[size_t(world.rank() % perPosition)]);
  return Status::success();
}

/// The texts of all members, padded with zeros to one length.
static Status gatherTexts(Group &group, std::string text,
                          std::vector<std::string> &texts) {
  const ActionId action{"checkpoint", "names of tensors"};
  auto length = int64_t(text.size());
  if (Status status = group.allReduce(&length, &length, 1, ElementType::I64,
                                      Reduction::Max, action);
      status.failed())
    return status;
  text.resize(size_t(length));
  std::string all(text.size() * size_t(group.size()), '\0');
  if (Status status =
          group.allGather(text.data(), all.data(), text.size(), action);
      status.failed())
    return status;
  for (int member = 0; member < group.size(); ++member)
    texts.push_back(all.substr(size_t(member) * text.size(), text.size()));
  return Status::success();
}

/// `text` is names, each with a zero behind it, and further zeros.
static void addNames(const std::string &text, int64_t position,
                     LowestPositions &lowest) {
  for (size_t begin = 0; begin < text.size() && text[begin] != '\0';) {
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
  if (mesh.sizes[0] == 1) {
    addNames(names, 0, lowest);
    return Status::success();
  }
  std::unique_ptr<Group> column;
  if (Status status = createColumn(mesh, world, column); status.failed())
    return status;
  std::vector<std::string> texts;
  if (Status status = gatherTexts(*column, std::move(names), texts);
      status.failed())
    return status;
  for (size_t position = 0; position < texts.size(); ++position)
    addNames(texts[position], int64_t(position), lowest);
  return Status::success();
}

} // namespace pcc::runtime
