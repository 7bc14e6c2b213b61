//===- MpiGroup.h - collectives out of messages ---------------------------===//
//
// Each call is one or two rounds in which every member sends directly to every
// other: the bytes that a bandwidth-optimal algorithm moves, sums in member
// order whatever the number of ranks, and a deadline that knows whose message
// is missing.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_MPI_MPIGROUP_H
#define PCC_RUNTIME_COMM_MPI_MPIGROUP_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/WaitError.h"
#include "runtime/comm/flight/PendingPosts.h"
#include "runtime/comm/mpi/MpiJob.h"

#include <atomic>
#include <memory>
#include <vector>

namespace pcc::runtime {

class MpiGroup final : public Group {
public:
  MpiGroup(std::shared_ptr<MpiJob> sharedJob, std::vector<int> worldRanks,
           int messageTag, std::shared_ptr<std::atomic<double>> seconds,
           std::shared_ptr<FlightRecorder> ownRecorder);

  int size() const override { return int(members.size()); }
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
  struct Sum;

  Status reduceSmall(const Sum &sum, const CallSite &site);
  Status reduceShares(const Sum &sum, const CallSite &site);
  Status begin(std::span<const PeerBuffer> sends,
               std::span<const PeerBuffer> receives, const CallSite &site);
  Status runPieces(const CallSite &site);
  TransferFault post(const PeerBuffer &piece, bool receives);
  Status wait(std::span<const Ticket> tickets, const CallSite &site);
  Status waitNoted(std::span<const Ticket> tickets, const CallSite &site,
                   FlightRecorder::Entry entry);
  void noteMissing(std::span<const Ticket> tickets,
                   FlightRecorder::Entry entry);
  bool isUnderWay(size_t index, std::span<const Ticket> tickets) const;
  bool isComplete(std::span<const Ticket> tickets) const;
  Status describe(const TransferFault &fault, const CallSite &site);
  Status endRun(const Status &reason);
  std::vector<int> missing(std::span<const Ticket> tickets) const;
  CallSite siteOf(std::string_view call, const ActionId &action) const;
  /// The members in the order in which this one talks to them, so that not all
  /// talk to the same; ends before this one.
  int peerAt(int turn) const { return (self + turn) % size(); }

  const std::shared_ptr<MpiJob> job;
  const std::vector<int> members;
  const int self;
  const int tag;
  const std::shared_ptr<std::atomic<double>> deadlineSeconds;
  const std::shared_ptr<FlightRecorder> recorder;
  PendingPosts posts;
  TransferSet underWay;
  /// What advance() found.
  TransferFault found;
  std::vector<PeerBuffer> toSend;
  std::vector<PeerBuffer> toGet;
  std::vector<char> scratch; ///< others' parts of a reduction
  std::vector<const void *> inputs;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_MPI_MPIGROUP_H
