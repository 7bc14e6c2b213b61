//===- PendingPosts.h - flight recorder entries of messages in flight -----===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
#define PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H

#include "runtime/comm/flight/FlightRecorder.h"

#include <array>
#include <span>

namespace pcc::runtime {

/// Stores the flight recorder entries of a group's messages in flight. The
/// flight recorder is a log of a rank's latest activities. A call of post()
/// begins messages, and returns a ticket: a handle for wait().
///
/// - add() begins one entry per post() call, and stores the ticket and the
///   entry.
/// - end() ends the entries of post() calls whose messages are complete.
///
/// At most kMost = 64 calls are stored. A new call may overwrite an older call.
class PendingPosts {
public:
  /// Stores a reference to `recorder`, which must outlive this object.
  explicit PendingPosts(FlightRecorder &recorder) : recorder(recorder) {}

  /// Begins one entry in the flight recorder (log of a rank's latest
  /// activities) for one post() call. Does nothing if the call has no messages.
  ///
  /// - `ticket`: handle that post() returns.
  /// - `sends`, `receives`: messages that post() begins to send and to receive.
  /// - `members`: world ranks of the group. A message with peer 2 is a message
  ///   to or from world rank `members[2]`.
  /// - `action`: schedule action and tensor to which the messages belong.
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

  /// Ends the flight recorder entries of completed post() calls. The flight
  /// recorder is a log of a rank's latest activities. `tickets` are the handles
  /// that these post() calls returned. Ignores a ticket in two cases:
  ///
  /// - The post() call had no messages. add() then began no entry for this
  ///   call.
  /// - The array `posts` no longer contains the ticket. The array has 64
  ///   elements. For example, the post() call with ticket 65 overwrites the
  ///   element of ticket 1.
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
  /// Stored post() calls, each with its ticket and its flight recorder entry. A
  /// ticket is the handle that post() returned. The array has kMost = 64
  /// elements. The call with ticket t is at index t % 64. For example, the call
  /// with ticket 65 overwrites the call with ticket 1.
  std::array<Post, kMost> posts = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
