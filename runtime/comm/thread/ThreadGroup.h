//===- ThreadGroup.h - one rank's side of a meeting -----------------------===//

#ifndef PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
#define PCC_RUNTIME_COMM_THREAD_THREADGROUP_H

#include "runtime/comm/WaitError.h"
#include "runtime/comm/thread/Meeting.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

class ThreadGroup final : public Group {
public:
  /// `seconds` is the rank's current deadline, shared by all of its groups.
  ThreadGroup(std::shared_ptr<ThreadHub> sharedHub,
              std::shared_ptr<Meeting> place, int ownIndex,
              std::shared_ptr<std::atomic<double>> seconds);

  int size() const override { return meeting->size(); }
  int index() const override { return self; }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   Reduction kind, const ActionId &action) override;
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override;
  Status exchange(std::span<const Piece> sends, std::span<const Piece> receives,
                  const ActionId &action) override;
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override;
  Status barrier(const ActionId &action) override;

private:
  struct Exchange;

  template <typename Work>
  Status together(const MemberCall &call, const ActionId &action, Work work);
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  Clock::time_point deadline() const;
  Status endRun(Status reason);
  Status describeMissing(const CallSite &site, const std::vector<int> &missing);

  std::shared_ptr<ThreadHub> hub;
  std::shared_ptr<Meeting> meeting;
  const int self;
  std::shared_ptr<std::atomic<double>> deadlineSeconds;
  uint64_t steps =
      0; ///< of the meeting, as many as this rank has taken part in
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  struct Pending {
    Piece piece;
    bool isOffered = false; ///< lies in its mailbox
  };
  /// Of the exchange under way.
  std::vector<Pending> pendingSends;
  std::vector<Pending> pendingReceives;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_THREAD_THREADGROUP_H
