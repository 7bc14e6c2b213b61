//===- Groups.h - the communicators of a run ------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H

#include "runtime/comm/Communicator.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// This rank's member of every group of the bundle, and the ranks that differ
/// from it only in their position: the pipeline. All ranks create all groups,
/// in the order of the bundle's list.
class Groups {
public:
  Status create(const program::ProgramT &program, const Mesh &mesh,
                World &world);

  Group *find(int32_t index) const { return mine[size_t(index)].get(); }
  Group &pipeline() const { return *mine.back(); }

private:
  void takeMine();

  std::vector<std::unique_ptr<Group>> created;
  /// By group of the program, the pipeline last.
  std::vector<std::unique_ptr<Group>> mine;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_GROUPS_H
