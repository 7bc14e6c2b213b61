//===- Groups.cpp - communicator groups of one rank -----------------------===//

#include "runtime/engine/collective/Groups.h"

#include <set>

namespace pcc::runtime {

/// Divides all ranks into groups, and appends the groups to `groups`. A group
/// is a list of ranks. The ranks of one group differ only in their coordinates
/// along `axes`. An entry of `axes` is a whole mesh axis or a factor of a mesh
/// axis. An axis of size 6 has the factors 2 and 3.
///
/// For example, a mesh has the axes pp=2 and tp=2, and thus 4 ranks. If `axes`
/// is {tp}, the groups are {0, 1} and {2, 3}.
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

/// Moves every group of `created` that is not null to the end of `mine`. An
/// entry of `created` is null if this rank is not a member of the group.
void Groups::takeMine() {
  for (auto &group : created)
    if (group)
      mine.push_back(std::move(group));
}

} // namespace pcc::runtime
