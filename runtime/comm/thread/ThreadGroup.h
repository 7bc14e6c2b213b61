//===- ThreadGroup.h - one rank's side of a groupState --------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
#define PCC_RUNTIME_COMM_THREAD_THREADGROUP_H

#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/PendingPosts.h"
#include "runtime/comm/thread/GroupState.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

class ThreadGroup final : public Group {
public:
  /// `seconds` is the rank's current deadline, shared by all of its groups.
  ThreadGroup(std::shared_ptr<ThreadJob> sharedJob,
              std::shared_ptr<GroupState> place, int ownIndex,
              std::shared_ptr<std::atomic<double>> seconds,
              std::shared_ptr<FlightRecorder> ownRecorder);
  /// Takes back what nobody has received: its memory may go away.
  ~ThreadGroup() override { withdraw(); }

  int size() const override { return groupState->size(); }
  int index() const override { return self; }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   Reduction kind, const ActionId &action) override;
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override;
  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override;
  Status wait(std::span<const Ticket> tickets, const ActionId &action) override;
  void advance() override;
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override;
  Status barrier(const ActionId &action) override;

private:
  /// A piece under way.
  struct Pending {
    PeerBuffer piece;
    Ticket ticket;
    bool isOffered = false; ///< lies in its mailbox
  };

  static bool isFirstOfPeer(const std::vector<Pending> &list, size_t index);
  template <typename Moved>
  static void drop(std::vector<Pending> &list, Moved moved);
  void offer(Pending &pending);
  void publish();
  bool receive(const PeerBuffer &piece);
  bool wasTaken(const PeerBuffer &piece) const;
  bool isComplete(std::span<const Ticket> tickets) const;
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  void withdraw();

  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  Clock::time_point deadline() const;
  Status endRun(Status reason);
  FlightRecorder::Entry beginWait(const CallSite &site,
                                  std::span<const int> peers);
  void noteMissing(FlightRecorder::Entry entry, std::span<const int> missing);
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  std::shared_ptr<ThreadJob> job;
  std::shared_ptr<GroupState> groupState;
  const int self;
  std::shared_ptr<std::atomic<double>> deadlineSeconds;
  std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  uint64_t steps =
      0; ///< of the groupState, as many as this rank has taken part in
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  /// In the order of their posts. A mailbox holds one piece, so only the first
  /// of each peer moves.
  std::vector<Pending> sends;
  std::vector<Pending> receives;
  Ticket newest = 0;
  int mismatchedPeer = -1;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
