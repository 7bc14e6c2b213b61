//===- WaitError.h - error messages of failed waits -----------------------===//

#ifndef PCC_RUNTIME_COMM_WAITERROR_H
#define PCC_RUNTIME_COMM_WAITERROR_H

#include "runtime/comm/Communicator.h"

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Returns a list of ranks in words, such as "rank 7" or "ranks 1, 3 and 5". If
/// the list has at most 9 ranks, the text contains all ranks. A text about more
/// ranks contains the first 8 ranks and the number of the other ranks. For
/// example, the 20 ranks from 0 to 19 give "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12
/// more".
inline std::string listRanks(std::span<const int> ranks) {
  constexpr size_t shown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i == shown && ranks.size() > shown + 1)
      return text + " and " + std::to_string(ranks.size() - shown) + " more";
    if (i > 0)
      text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

/// Returns text about the members of a group, for an error message. `members`
/// lists the world ranks of the members. If the group has at most 16 members,
/// the text lists them, such as "{1,3,5,7}". If the group has more members, the
/// text contains only the number of members. For example, the text for 64
/// members is "the 64 in its group".
inline std::string listMembers(std::span<const int> members) {
  if (members.size() > 16)
    return "the " + std::to_string(members.size()) + " in its group";
  std::string text = "{";
  for (int member : members)
    text += (text.size() > 1 ? "," : "") + std::to_string(member);
  return text + "}";
}

/// Describes the call of a communication function for an error message. For
/// example, this text describes an all-reduce of tensor h in action 0F3, which
/// is the forward (F) of microbatch 3 on stage 0:
///
///   all_reduce of h (action 0F3)
///
/// `call` is the function's name, `action.value` is the tensor's name, and
/// `action.action` is the action's name. If the tensor's name is empty, the
/// text does not contain " of h". If the action's name is empty, the text does
/// not contain " (action 0F3)".
inline std::string describeCall(std::string_view call, const ActionId &action) {
  std::string text(call);
  if (!action.value.empty())
    text += " of " + action.value;
  if (!action.action.empty())
    text += " (action " + action.action + ")";
  return text;
}

/// Description of one call of a Group function, such as allReduce(), for error
/// messages. The object does not own the strings and the list to which it
/// refers. They must outlive the object.
struct CallSite {
  int rank;                     ///< world rank that calls
  std::string_view call;        ///< such as "all_reduce"
  const ActionId &action;       ///< action and tensor
  std::span<const int> members; ///< world ranks of the group
};

/// Returns an error with exit code 14 for a rank that has waited too long for
/// other ranks. The rank has waited for `seconds` seconds. `site` describes the
/// call in which the rank waited. `missing` lists the world ranks for which the
/// rank was still waiting at the end. For example, the message of the error is:
///
///   rank 1: all_reduce of h (action 0F3) waited 30 s; ranks 3 and 5 of
///   {1,3,5,7} did not arrive
///
/// In this example, rank 1 has called allReduce() for the tensor h. The group
/// has the ranks 1, 3, 5 and 7. Ranks 3 and 5 have not called allReduce().
/// Action 0F3 is the forward (F) of microbatch 3 on stage 0.
inline Status missedDeadline(const CallSite &site, double seconds,
                             std::span<const int> missing) {
  char waited[32];
  std::snprintf(waited, sizeof waited, "%.3g", seconds);
  return Status::error(PeerLost,
                       "rank " + std::to_string(site.rank) + ": " +
                           describeCall(site.call, site.action) + " waited " +
                           waited + " s; " + listRanks(missing) + " of " +
                           listMembers(site.members) + " did not arrive");
}

/// Returns an error with exit code 11 for two ranks whose calls do not match,
/// for example in the function or in the size. `site` describes the call of
/// this rank. `peer` is the world rank of the other rank. If this rank sends
/// itself a message of a wrong size, `peer` is this rank. In this example, 0F3
/// is the forward (F) of microbatch 3 on stage 0:
///
///   rank 1: all_reduce of h (action 0F3) does not match the call of rank 3;
///   the ranks run different programs
inline Status mismatchedCalls(const CallSite &site, int peer) {
  return Status::error(DamagedBundle, "rank " + std::to_string(site.rank) +
                                          ": " +
                                          describeCall(site.call, site.action) +
                                          " does not match the call of rank " +
                                          std::to_string(peer) +
                                          "; the ranks run different programs");
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_WAITERROR_H
