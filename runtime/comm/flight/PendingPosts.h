//===- PendingPosts.h - flight recorder entries of messages in flight -----===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
#define PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H

#include "runtime/comm/flight/FlightRecorder.h"

#include <array>
#include <span>

namespace pcc::runtime {

/// Maps the tickets of a group's latest post() calls to entries of the flight
/// recorder (log of a rank's latest activities). When a ticket is complete,
/// end() ends its entry. Only the latest kMost calls are stored.
class PendingPosts {
public:
  /// Stores a reference to `recorder`, which must outlive this object.
  explicit PendingPosts(FlightRecorder &recorder) : recorder(recorder) {}

  /// Begins an entry in the flight recorder (log of a rank's latest activities)
  /// for one post() call. `ticket` is the call's handle. `members` are the
  /// world ranks of the group. Does nothing if the call has no messages.
  void add(Ticket ticket, std::span<const PeerBuffer> sends,
           std::span<const PeerBuffer> receives, std::span<const int> members,
           const ActionId &action) {
    if (sends.empty() && receives.empty())
      return;
    const char *call = receives.empty() ? "send"
                       : sends.empty()  ? "receive"
                                        : "exchange";
    const auto entry = recorder.begin(FlightKind::Post, call, action);
    for (const auto pieces : {sends, receives})
      for (const PeerBuffer &piece : pieces)
        recorder.addPeer(entry, members[size_t(piece.peer)]);
    posts[ticket % kMost] = {ticket, entry};
  }

  /// Ends the flight recorder entries of the post() calls with the handles
  /// `tickets`. Ignores a call that has no stored entry.
  void end(std::span<const Ticket> tickets) {
    for (Ticket ticket : tickets)
      if (Post &post = posts[ticket % kMost]; post.ticket == ticket)
        recorder.end(post.entry);
  }

private:
  static constexpr size_t kMost = 64;
  struct Post {
    Ticket ticket = 0; ///< 0 if unused; tickets begin with 1
    FlightRecorder::Entry entry = 0;
  };

  FlightRecorder &recorder;
  /// Ring buffer of the latest post() calls. The call with ticket (handle) t is
  /// at index t % kMost.
  std::array<Post, kMost> posts = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
