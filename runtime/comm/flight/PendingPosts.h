//===- PendingPosts.h - messages that travel, as the recorder has them ----===//

#ifndef PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
#define PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H

#include "runtime/comm/flight/FlightRecorder.h"

#include <array>
#include <span>

namespace pcc::runtime {

/// The posts of a group, so that a wait for their tickets can end them. Of more
/// than kMost at once the oldest are forgotten: their entries stay open.
class PendingPosts {
public:
  explicit PendingPosts(FlightRecorder &recorder) : recorder(recorder) {}

  /// Members are world ranks; pieces name them by index.
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

  void end(std::span<const Ticket> tickets) {
    for (Ticket ticket : tickets)
      if (Post &post = posts[ticket % kMost]; post.ticket == ticket)
        recorder.end(post.entry);
  }

private:
  static constexpr size_t kMost = 64;
  struct Post {
    Ticket ticket = 0; ///< tickets begin with 1
    FlightRecorder::Entry entry = 0;
  };

  FlightRecorder &recorder;
  std::array<Post, kMost> posts = {};
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_FLIGHT_PENDINGPOSTS_H
