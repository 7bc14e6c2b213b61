//===- HostWorld.h - base of the worlds whose groups use host memory ------===//

#ifndef PCC_RUNTIME_COMM_HOSTWORLD_H
#define PCC_RUNTIME_COMM_HOSTWORLD_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/GroupList.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace pcc::runtime {

/// Base class of the worlds for ranks that are threads or MPI processes. A
/// world is the object by which a rank communicates with all other ranks. The
/// buffers of its groups are in host memory. This class contains the members
/// that both kinds of worlds need:
///
/// - the group of all ranks
/// - the flight recorder, which is a log of the rank's latest activities
/// - the limit for the duration of one wait for other ranks
///
/// A derived class implements join(), which creates one group.
class HostWorld : public World {
public:
  explicit HostWorld(std::shared_ptr<FlightRecorder> ownRecorder)
      : flight(std::move(ownRecorder)),
        deadlineSeconds(std::make_shared<std::atomic<double>>(600.0)) {}

  Group &all() final { return *everybody; }
  FlightRecorder &recorder() final { return *flight; }
  void setDeadline(double seconds) final {
    deadlineSeconds->store(std::min(seconds, kLongestDeadline));
  }
  double deadline() const final { return *deadlineSeconds; }

  Status createGroups(const std::vector<std::vector<int>> &groups,
                      std::vector<std::unique_ptr<Group>> &created) final {
    created.clear();
    for (const std::vector<int> &members : groups) {
      PCC_RETURN_IF_ERROR(checkMembers(members, size()));
      PCC_RETURN_IF_ERROR(join(members, created.emplace_back()));
    }
    return Status::success();
  }

protected:
  /// Creates the group of all ranks. The constructor of the derived class must
  /// call joinAll(). The group must be the first on every rank, because the
  /// ranks identify a group by its number in the order of creation.
  void joinAll() {
    std::vector<int> ranks(size());
    std::iota(ranks.begin(), ranks.end(), 0);
    [[maybe_unused]] const Status status = join(ranks, everybody);
    assert(status.ok() && everybody && "every rank is in the group of all");
  }

  /// Creates this rank's object for one group, and stores the object in
  /// `group`. `members` lists the world ranks of the group. If this rank is not
  /// in the list, `group` stays null.
  ///
  /// Every rank must call join() once for each group, even if the rank is not a
  /// member of the group. All ranks must call join() for the groups in the same
  /// order. For example, all ranks first call join() for the group {0, 1}, and
  /// then for the group {2, 3}. The reason is that each rank counts its calls
  /// of join(). If two ranks make their second calls, both calls refer to the
  /// same group.
  virtual Status join(const std::vector<int> &members,
                      std::unique_ptr<Group> &group) = 0;

  const std::shared_ptr<FlightRecorder> flight;
  /// Limit for the duration of one wait, in seconds. A wait for other ranks
  /// that takes longer returns exit code 14. All groups of this rank share the
  /// number, so setDeadline() affects all of them.
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  /// The group of all ranks.
  std::unique_ptr<Group> everybody;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_HOSTWORLD_H
