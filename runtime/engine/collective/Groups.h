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
  /// Creates the communicator groups of this rank. `program` has a list of
  /// group specs. A group spec is a list of mesh axes. The ranks of one group
  /// differ only along these axes. The function creates the groups of every
  /// group spec, and the groups of the ranks along the pipeline axis. `world`
  /// is the communicator of all ranks.
  ///
  /// All ranks of `world` must call this function together. The programs of all
  /// ranks must come from the same bundle (output directory of the compiler).
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  /// Returns this rank's group for group spec number `index` of the program. A
  /// group spec is a list of mesh axes. The members of a group differ only
  /// along these axes.
  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  /// Returns this rank's group along the pipeline axis. All members of the
  /// group have the coordinates of this rank on all other mesh axes. Member i
  /// has coordinate i on the pipeline axis.
  ///
  /// For example, the pipeline axis is pp=2, and the mesh also has the axis
  /// tp=2. Rank 0 has the coordinates pp=0 and tp=0. Rank 2 has the coordinates
  /// pp=1 and tp=0. On rank 2, the group has two members: member 0 is rank 0,
  /// and member 1 is rank 2.
  Group &pipeline() const { return *mine.back(); }

private:
  /// Moves the groups to which this rank belongs from `created` to `mine`.
  void takeMine();

  /// Temporary list of the function create(). The list has one entry per group.
  /// The entry is null if this rank is not a member of the group. takeMine()
  /// moves all other entries to `mine`.
  ///
  /// create() fills the list twice. The first time, the list has the groups of
  /// all group specs. A group spec is a list of mesh axes. The second time, the
  /// list has the groups of the ranks along the pipeline axis.
  ///
  /// For example, a mesh has the axes pp=2 and tp=2, and the only group spec is
  /// {tp}. The groups of this spec are {0, 1} and {2, 3}. On rank 0, the list
  /// is then {group {0, 1}, null}.
  std::vector<std::unique_ptr<Group>> created;
  /// All groups of which this rank is a member. The program has a list of group
  /// specs. A group spec is a list of mesh axes. Entry i of `mine` is this
  /// rank's group for group spec number i. The last entry of `mine` is the
  /// group of the ranks along the pipeline axis. For example, a program has 3
  /// group specs. `mine` then has 4 entries.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
