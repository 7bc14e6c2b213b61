//===- Groups.h - communicator groups of one rank -------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H

#include "runtime/comm/Communicator.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// This rank's communicator groups. The program lists group specs. A spec is a
/// list of mesh axes; ranks that differ only along these axes form a group. One
/// more group, the pipeline, has the ranks along the pipeline axis.
///
/// On mesh pp=2, tp=2, the spec "tp" gives the groups {0,1} and {2,3}, and the
/// pipelines are {0,2} and {1,3}. Rank 2 is in {2,3} and {0,2}.
class Groups {
public:
  /// Creates all groups of the program's group specs (lists of mesh axes), and
  /// all pipelines. All ranks of the world must call, with programs of one
  /// bundle.
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  /// Returns this rank's group for group spec number `index` of the program. A
  /// group spec is a list of mesh axes. The members of a group differ only
  /// along these axes.
  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  /// Returns this rank's pipeline: the ranks that differ from it only on the
  /// pipeline axis. Member i has coordinate i on this axis.
  Group &pipeline() const { return *mine.back(); }

private:
  /// Moves the groups to which this rank belongs from `created` to `mine`.
  void takeMine();

  /// All groups of the world; null where this rank is no member.
  std::vector<std::unique_ptr<Group>> created;
  /// This rank's groups: one per group spec (list of mesh axes) in the
  /// program's order, then the pipeline.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
