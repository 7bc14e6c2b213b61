//===- GroupList.h - checks and look-up on lists of group members ---------===//

#ifndef PCC_RUNTIME_COMM_GROUPLIST_H
#define PCC_RUNTIME_COMM_GROUPLIST_H

#include "status/Counted.h"
#include "status/Status.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Longest deadline of a wait for other ranks: one year, in seconds. Adding a
/// longer time to the clock's time could overflow.
inline constexpr double kLongestDeadline = 365.0 * 86400;

/// Checks that `members` is a valid group among `worldSize` ranks: not empty,
/// without duplicates, and all from 0 to `worldSize` - 1. Returns exit code 11
/// otherwise.
inline Status checkMembers(const std::vector<int> &members, int worldSize) {
  std::vector<int> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  const bool distinct =
      std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (!sorted.empty() && distinct && sorted.front() >= 0 &&
      sorted.back() < worldSize)
    return Status::success();
  std::string list;
  for (int member : members)
    list += (list.empty() ? "" : ",") + std::to_string(member);
  return Status::error(DamagedBundle, "not a group of a world of " +
                                          counted(worldSize, "rank") + ": {" +
                                          list + "}");
}

/// Returns the index of `rank` in `members`, or -1 if `rank` is no member.
inline int indexAmong(const std::vector<int> &members, int rank) {
  const auto found = std::find(members.begin(), members.end(), rank);
  return found == members.end() ? -1 : int(found - members.begin());
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_GROUPLIST_H
