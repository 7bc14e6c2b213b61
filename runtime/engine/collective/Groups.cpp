//===- Groups.cpp - communicator groups of one rank -----------------------===//

#include "runtime/engine/collective/Groups.h"

#include <set>

namespace pcc::runtime {

/// Appends to `groups` all groups whose members differ only along the sub-axes
/// `axes`. A group is a list of world ranks.
static void addGroups(const SubAxes &axes, const Mesh &mesh,
                      std::vector<std::vector<int>> &groups) {
  for (const auto &members : groupsOf(mesh.spatial(), axes))
    groups.emplace_back(members.begin(), members.end());
}

/// Returns the pairs (sender, receiver) of coordinates on the pipeline axis
/// between which the program sends tensors. All ranks return the same pairs.
static std::vector<World::PeerEdge> edgesOf(const program::ProgramT &program) {
  std::set<std::pair<int, int>> pairs;
  for (const auto &transfer : program.transfers)
    pairs.insert({program.stage_positions[size_t(transfer->from_stage)],
                  program.stage_positions[size_t(transfer->to_stage)]});
  std::vector<World::PeerEdge> edges;
  for (const auto &[from, to] : pairs)
    if (from != to)
      edges.push_back({from, to});
  return edges;
}

/// Creates the program's groups, then one group per pipeline. A pipeline's
/// group supports only messages between members that exchange tensors in the
/// program.
Status Groups::create(const program::ProgramT &program, const Mesh &mesh,
                      World &world) {
  std::vector<std::vector<int>> members;
  for (const auto &group : program.groups)
    addGroups(groupOf(*group, mesh), mesh, members);
  PCC_RETURN_IF_ERROR(world.createGroups(members, created));
  takeMine();

  std::vector<std::vector<int>> pipelines;
  addGroups({fullAxis(mesh, mesh.axes[0].name)}, mesh, pipelines);
  PCC_RETURN_IF_ERROR(
      world.createExchanges(pipelines, edgesOf(program), created));
  takeMine();
  return Status::success();
}

/// Skips null entries of `created`: they stand for groups without this rank.
void Groups::takeMine() {
  for (auto &group : created)
    if (group)
      mine.push_back(std::move(group));
}

} // namespace pcc::runtime
