//===- Groups.cpp - communicator groups of one rank -----------------------===//

#include "runtime/engine/collective/Groups.h"

#include <set>

namespace pcc::runtime {

/// Appends all groups of a spec as lists of world ranks, ordered by their first
/// ranks.
static void addGroups(const GroupSpec &spec, const Mesh &mesh,
                      std::vector<std::vector<int>> &groups) {
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    const Coordinates first = coordinatesOf(mesh, rank);
    if (memberIndex(spec, mesh, first) != 0)
      continue;
    std::vector<int> &group = groups.emplace_back();
    for (const Coordinates &member : membersOf(spec, mesh, first))
      group.push_back(int(rankOf(mesh, member)));
  }
}

/// Returns the pairs of positions between which values are transferred, without
/// duplicates. All programs of a bundle list the same transfers, so all ranks
/// get the same pairs.
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

/// The pipeline is created as a group for messages, with one edge per pair of
/// positions.
Status Groups::create(const program::ProgramT &program, const Mesh &mesh,
                      World &world) {
  std::vector<GroupSpec> specs;
  for (const auto &group : program.groups)
    specs.push_back(groupOf(*group));

  std::vector<std::vector<int>> members;
  for (const GroupSpec &spec : specs)
    addGroups(spec, mesh, members);
  if (Status status = world.createGroups(members, created); status.failed())
    return status;
  takeMine();

  const GroupSpec pipeline{{AxisPart{0, 1, int32_t(mesh.sizes[0])}}};
  std::vector<std::vector<int>> pipelines;
  addGroups(pipeline, mesh, pipelines);
  if (Status status =
          world.createExchanges(pipelines, edgesOf(program), created);
      status.failed())
    return status;
  takeMine();
  return Status::success();
}

/// The rank is in exactly one group per spec, and the specs are in order, so
/// the groups that are not null are this rank's groups by spec.
void Groups::takeMine() {
  for (auto &group : created)
    if (group)
      mine.push_back(std::move(group));
}

} // namespace pcc::runtime
