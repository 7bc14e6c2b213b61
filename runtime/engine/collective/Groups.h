//===- Groups.h - communicator groups of one rank -------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H

#include "runtime/comm/Communicator.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// This rank's communicator groups. The program lists group specs. A spec is a
/// list of mesh axes; ranks that differ only along these axes form a group. The
/// rank is therefore a member of exactly one group per spec. One more group,
/// the pipeline, has the ranks that differ only in their coordinate on the
/// pipeline axis.
///
/// Example: on mesh pp=2, tp=2, the spec "tp" stands for the groups {0,1} and
/// {2,3}, and the pipelines are {0,2} and {1,3}. Rank 2 is in {2,3} and {0,2}.
class Groups {
public:
  /// Creates all groups of the program's group specs (lists of mesh axes), and
  /// all pipelines. All ranks of the world must call this function with
  /// programs of one bundle. The lists of group specs are equal in all programs
  /// of a bundle.
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  /// Returns this rank's group of the program's group spec number `index`. A
  /// group spec is a list of mesh axes along which members differ.
  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  /// Returns the pipeline: the group of ranks that differ from this rank only
  /// in their coordinate on the pipeline axis. Member i has coordinate i.
  Group &pipeline() const { return *mine.back(); }

private:
  /// Moves this rank's groups from `created` to `mine`.
  void takeMine();

  /// Result of World::createGroups(): one entry per group of the whole world.
  /// An entry is null if this rank is not a member of the group.
  std::vector<std::unique_ptr<Group>> created;
  /// This rank's groups. First one group per group spec (list of mesh axes), in
  /// the order of the program's specs. The pipeline is last.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
