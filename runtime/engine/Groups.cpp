//===- Groups.cpp - the communicators of a run ----------------------------===//

#include "runtime/engine/Groups.h"

namespace pcc::runtime {

Status Groups::create(const program::ProgramT &program, const Mesh &mesh,
                      const Coordinates &at, World &world) {
  std::vector<GroupSpec> specs;
  for (const auto &group : program.groups)
    specs.push_back(groupOf(*group));
  specs.push_back({{AxisPart{0, 1, int32_t(mesh.sizes[0])}}});

  std::vector<std::vector<int>> members;
  std::vector<size_t> indexOfMine;
  for (const GroupSpec &spec : specs)
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      const Coordinates first = coordinatesOf(mesh, rank);
      if (memberIndex(spec, mesh, first) != 0)
        continue;
      std::vector<int> &group = members.emplace_back();
      for (const Coordinates &member : membersOf(spec, mesh, first)) {
        group.push_back(int(rankOf(mesh, member)));
        if (group.back() == rankOf(mesh, at))
          indexOfMine.push_back(members.size() - 1);
      }
    }

  if (Status status = world.createGroups(members, created); status.failed())
    return status;
  for (size_t index : indexOfMine)
    mine.push_back(created[index].get());
  return Status::success();
}

} // namespace pcc::runtime
