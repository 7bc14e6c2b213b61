//===- NcclGroup.h - group of GPUs connected by NCCL ----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
#define PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H

#include "runtime/comm/QueuedGroup.h"
#include "runtime/comm/nccl/NcclJob.h"
#include "runtime/comm/nccl/NcclTickets.h"

namespace pcc::runtime {

/// A directed connection between two members of a group, and the lane (NCCL
/// communicator and CUDA stream) that transfers its messages.
struct EdgeLane {
  World::PeerEdge edge;
  NcclLane lane;
};

/// A group on device queues (QueuedGroup) whose operations are NCCL calls.
/// There are two kinds of groups:
///
/// - A group for all operations has one lane (NCCL communicator and CUDA
///   stream). Its operations run one after another. The messages of one post()
///   run concurrently.
/// - A group for pipeline messages has one lane per edge (pair of sender and
///   receiver). A message thus never waits for a message of another edge.
class NcclGroup final : public QueuedGroup {
public:
  /// Creates the group of the world ranks `members`. Member i is rank i of the
  /// communicator of `lane`.
  ///
  /// If `edges` (connections between two members) is not empty, `lane` must be
  /// empty. The group then supports only wait(), and post() along these edges.
  /// Other calls fail with exit code 1.
  NcclGroup(std::shared_ptr<NcclJob> job, std::vector<int> members,
            NcclLane lane, std::vector<EdgeLane> edges = {});

  int size() const override { return int(members.size()); }
  int index() const override { return self; }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   dist::ReductionKind kind, const ActionId &action) override;
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override;
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override;
  Status barrier(const ActionId &action) override;
  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override;
  Status wait(std::span<const Ticket> tickets, const ActionId &action) override;

  Status postAllReduce(const void *in, void *out, size_t count,
                       ElementType type, dist::ReductionKind kind,
                       const ActionId &action, Ticket &ticket) override;
  Status postAllGather(const void *in, void *out, size_t bytes,
                       const ActionId &action, Ticket &ticket) override;
  Status postReduceScatter(const void *in, void *out, size_t count,
                           ElementType type, dist::ReductionKind kind,
                           const ActionId &action, Ticket &ticket) override;

private:
  /// Operands of a reduction. `count` is the number of elements that is passed
  /// to the NCCL call: the size of `in` for an all-reduce, the size of `out`
  /// for a reduce-scatter.
  struct Operands {
    const void *in;
    void *out;
    size_t count;
    ElementType type;
    dist::ReductionKind kind;
  };

  /// Enqueues a reduction on the group's lane (communicator and stream), and
  /// sets `ticket`, the handle for wait(). `reduce` is ncclAllReduce or
  /// ncclReduceScatter, and `name` is the name of the call in messages.
  template <typename Function>
  Status postReduction(const char *name, Function reduce,
                       const Operands &operands, const ActionId &action,
                       Ticket &ticket);
  /// Enqueues an NCCL call on lane `to` (communicator and stream). The call
  /// starts after all work that is already enqueued on the GPU's compute
  /// stream.
  ///
  /// - `name`: the call's name in messages
  /// - `peer`: index of the only member that the call depends on; -1 if it
  ///   depends on all members
  /// - `call`: function that makes the NCCL call and returns its result
  template <typename Call>
  Status enqueue(const NcclLane &to, const char *name, const ActionId &action,
                 int peer, Call call);
  /// Enqueues an NCCL call on the group's lane (communicator and stream) with
  /// the arguments of enqueue(). Sets `ticket`, the handle for wait(). Work
  /// that is enqueued after wait() starts after the NCCL call.
  template <typename Call>
  Status enqueueWithTicket(const char *name, const ActionId &action, int peer,
                           Call call, Ticket &ticket);
  /// Makes work that is enqueued later on the compute stream wait for the
  /// operation with handle `ticket`. `given` is the result of enqueuing the
  /// operation. If `given` is an error, only returns this error.
  Status finish(const Status &given, Ticket ticket);

  /// Implements post() for a group that has edges (pairs of sender and
  /// receiver). Enqueues every message on the lane (communicator and stream) of
  /// its edge.
  Status postAlongEdges(std::span<const PeerBuffer> sends,
                        std::span<const PeerBuffer> receives,
                        const ActionId &action, Ticket &ticket);
  /// Calls ncclSend (if `isSend`) or ncclRecv on lane `on` (communicator and
  /// stream). `peer` is the rank of the peer in the lane's NCCL communicator.
  ncclResult_t transfer(const NcclLane &on, const PeerBuffer &piece, int peer,
                        bool isSend) const;

  std::shared_ptr<NcclJob> job;
  std::vector<int> members;
  int self;
  NcclLane lane; ///< empty if the group has edges
  std::vector<EdgeLane> edges;
  NcclTickets tickets;
  /// CUDA event that makes a lane wait for the compute stream; created on first
  /// use.
  CUevent computed = nullptr;
  /// GPU memory of 4 bytes, which barrier() all-reduces; allocated on first
  /// use.
  void *word = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
