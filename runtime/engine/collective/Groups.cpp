//===- Groups.cpp - communicator groups of one rank -----------------------===//

#include "runtime/engine/collective/Groups.h"

#include <set>

namespace pcc::runtime {

/// Divides all ranks into groups, and appends the groups to `groups`. A group
/// is a list of ranks. The ranks of one group differ only in their coordinates
/// along `axes`. An element of `axes` is a whole mesh axis or a sub-axis. For
/// example, an axis of size 6 consists of sub-axes of sizes 2 and 3.
///
/// For example, a mesh has the axes pp=2 and tp=2, and thus 4 ranks. If `axes`
/// is {tp}, the groups are {0, 1} and {2, 3}.
static void addGroups(const SubAxes &axes, const Mesh &mesh,
                      std::vector<std::vector<int>> &groups) {
  for (const auto &members : groupsOf(mesh.spatial(), axes))
    groups.emplace_back(members.begin(), members.end());
}

/// Returns the pairs (sender, receiver) of ranks on one pipeline that exchange
/// tensors. A rank is given by its coordinate on the pipeline axis. All ranks
/// return the same pairs, without duplicates.
///
/// For example, a pipeline has 4 stages on 2 ranks. Rank 0 has stages 0 and 2,
/// and rank 1 has stages 1 and 3. The program sends a tensor from stage 0 to
/// stage 1, and a tensor from stage 1 to stage 2. The pairs are then (0, 1) and
/// (1, 0). A transfer between two stages of the same rank gives no pair.
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

/// First creates the groups for each group spec of the program. A group spec is
/// a list of mesh axes, along which the members of a group communicate. Then
/// creates one group per pipeline. A pipeline is a list of ranks that differ
/// only along the pipeline axis, which is the first mesh axis.
///
/// In the group of a pipeline, a rank may send messages only to the ranks that
/// need its tensors. For example, the pipeline has 3 ranks. Rank 0 sends
/// tensors to rank 1, and rank 1 sends tensors to rank 2. Rank 0 may then not
/// send messages to rank 2.
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
