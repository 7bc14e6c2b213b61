//===- Groups.h - communicator groups of one rank -------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H

#include "runtime/comm/Communicator.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// This rank's communicator groups. A group spec of the program names mesh axes
/// and divides the ranks into disjoint groups, so the rank is a member of
/// exactly one group per spec. A further group, the pipeline, has the ranks
/// that differ from this rank only in their coordinate on the pipeline axis.
///
/// Example: on mesh pp=2, tp=2, the spec "tp" stands for the groups {0,1} and
/// {2,3}, and the pipelines are {0,2} and {1,3}. Rank 2 is in {2,3} and {0,2}.
class Groups {
public:
  /// Creates all groups of the program's group specs and all pipelines. All
  /// ranks of the world must call this function with programs of the same
  /// bundle. The lists of group specs are equal in all programs of a bundle.
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  /// Returns this rank's group of the group spec with index `index` in the
  /// program.
  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  /// Returns the pipeline: the group of ranks that differ from this rank only
  /// in their coordinate on the pipeline axis. Member i has coordinate i.
  Group &pipeline() const { return *mine.back(); }

private:
  /// Moves this rank's groups from `created` to `mine`.
  void takeMine();

  /// Result of World::createGroups(). It has one entry per group of the whole
  /// world; the entry is null if this rank is not a member.
  std::vector<std::unique_ptr<Group>> created;
  /// This rank's groups: one per group spec, in the order of the program's
  /// specs, and then the pipeline.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
