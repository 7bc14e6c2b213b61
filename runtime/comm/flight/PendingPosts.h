//===- PendingPosts.h - flight recorder entries of messages in flight -----===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
#define PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H

#include "runtime/comm/flight/FlightRecorder.h"

#include <array>
#include <span>

namespace pcc::runtime {

/// Stores which entry of the flight recorder (log of a rank's latest
/// activities) belongs to which post() call of a group. A call is identified by
/// its ticket. When a wait for the ticket succeeds, end() ends the entry of the
/// post() call. Only the latest kMost calls are stored. Entries of older calls
/// are never ended.
class PendingPosts {
public:
  /// Stores a reference to `recorder`, which must outlive this object.
  explicit PendingPosts(FlightRecorder &recorder) : recorder(recorder) {}

  /// Begins a flight recorder entry of kind Post for the messages of one post()
  /// call. `members` are the world ranks of the group. Does nothing if the call
  /// has no messages.
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

  /// Ends the flight recorder entries of `tickets`, whose messages are
  /// complete. Ignores a ticket that has no entry.
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
  /// Ring buffer of the latest posts; the post of ticket t is at index t %
  /// kMost.
  std::array<Post, kMost> posts = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
