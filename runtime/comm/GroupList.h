//===- GroupList.h - what every list of groups must obey ------------------===//

#ifndef PCC_RUNTIME_COMM_GROUPLIST_H
#define PCC_RUNTIME_COMM_GROUPLIST_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Longer deadlines mean this one: a year, which no clock overflows on.
inline constexpr double kLongestDeadline = 365.0 * 86400;

/// Members are distinct ranks of the world, at least one.
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
  return Status::error(DamagedBundle, "no group of a world of " +
                                          std::to_string(worldSize) +
                                          " ranks: {" + list + "}");
}

/// Where `rank` is among `members`, or -1.
inline int indexAmong(const std::vector<int> &members, int rank) {
  const auto found = std::find(members.begin(), members.end(), rank);
  return found == members.end() ? -1 : int(found - members.begin());
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_GROUPLIST_H
