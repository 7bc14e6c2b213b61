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

/// Returns the pairs (sender, receiver) of ranks of a pipeline that exchange
/// values, without duplicates. A rank is identified by its coordinate on the
/// pipeline axis. All programs of a bundle list the same transfers, so all
/// ranks get the same pairs.
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

/// The pipeline supports only point-to-point messages, over one connection for
/// each pair of edgesOf().
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

/// `created` has the groups of all ranks. Groups without this rank are null.
/// The rank is a member of exactly one group per group spec (list of mesh
/// axes). The entries that are not null are therefore this rank's groups, in
/// the order of the specs.
void Groups::takeMine() {
  for (auto &group : created)
    if (group)
      mine.push_back(std::move(group));
}

} // namespace pcc::runtime
