//===- Groups.h - communicator groups of one rank -------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H

#include "runtime/comm/Communicator.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// This rank's communicator groups. For each group spec of the program, the
/// rank is a member of exactly one group. The pipeline is one more group: the
/// ranks that differ from this rank only in their pipeline position.
///
/// Example: on mesh pp=2, tp=2, the spec "tp" stands for groups {0,1} and
/// {2,3}, and the pipelines are {0,2} and {1,3}. Rank 2 gets {2,3} and {0,2}.
class Groups {
public:
  /// Creates all groups of all ranks. Collective over the world: all ranks must
  /// call with programs of the same bundle, whose group lists are equal.
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  /// Returns this rank's group of spec number `index` in the program.
  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  /// Returns the pipeline, whose members are ordered by position.
  Group &pipeline() const { return *mine.back(); }

private:
  /// Moves this rank's groups from `created` to `mine`.
  void takeMine();

  /// Result of World::createGroups: null where this rank is no member.
  std::vector<std::unique_ptr<Group>> created;
  /// This rank's groups, by spec of the program, then the pipeline.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
