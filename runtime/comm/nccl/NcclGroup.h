//===- NcclGroup.h - group of GPUs connected by NCCL ----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
#define PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H

#include "runtime/comm/QueuedGroup.h"
#include "runtime/comm/nccl/NcclJob.h"
#include "runtime/comm/nccl/NcclTickets.h"

namespace pcc::runtime {

/// A directed connection between two members, and the lane of its messages.
struct EdgeLane {
  World::PeerEdge edge;
  NcclLane lane;
};

/// A queued group whose operations are NCCL calls. All operations of the group
/// run on its lane (a communicator and a stream), one after another; the pieces
/// of one post() run concurrently. Groups for pipeline messages have one lane
/// per edge instead, so that a message never waits behind a message of another
/// edge.
class NcclGroup final : public QueuedGroup {
public:
  /// `members` are world ranks, in the order of the lane's communicator. A
  /// group with `edges` has no lane (an empty `lane`): it only supports post()
  /// along these edges, and wait(). Other calls fail with exit code 1.
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
  /// Operands of a reduction. `count` is what the NCCL call takes.
  struct Operands {
    const void *in;
    void *out;
    size_t count;
    ElementType type;
    dist::ReductionKind kind;
  };

  /// Enqueues a reduction on the group's lane, with a ticket. `reduce` is
  /// ncclAllReduce or ncclReduceScatter, and `name` its name in messages.
  template <typename Function>
  Status postReduction(const char *name, Function reduce,
                       const Operands &operands, const ActionId &action,
                       Ticket &ticket);
  /// Enqueues an NCCL call on lane `to`, behind the work that the GPU's compute
  /// stream has been given so far. `call` makes the NCCL call and returns its
  /// result. `name` is the call's name in messages. `peer` is the index of the
  /// only member that the call depends on; -1 if it depends on all.
  template <typename Call>
  Status enqueue(const NcclLane &to, const char *name, const ActionId &action,
                 int peer, Call call);
  /// Enqueues an NCCL call on the group's lane, and sets `ticket`.
  template <typename Call>
  Status enqueueWithTicket(const char *name, const ActionId &action, int peer,
                           Call call, Ticket &ticket);
  /// Turns a call with a ticket into a call without: makes later work of the
  /// compute stream wait for `ticket`. Returns `given` if that is an error.
  Status finish(Status given, Ticket ticket);

  /// Implements post() for a group with edges: every piece goes to the lane of
  /// its edge.
  Status postAlongEdges(std::span<const PeerBuffer> sends,
                        std::span<const PeerBuffer> receives,
                        const ActionId &action, Ticket &ticket);
  /// Calls ncclSend or ncclRecv on lane `on`. `peer` is the peer's rank in the
  /// lane's communicator.
  ncclResult_t transfer(const NcclLane &on, const PeerBuffer &piece, int peer,
                        bool isSend) const;

  std::shared_ptr<NcclJob> job;
  std::vector<int> members;
  int self;
  NcclLane lane; ///< empty if the group has edges
  std::vector<EdgeLane> edges;
  NcclTickets tickets;
  /// Orders a lane behind the compute stream; created on first use.
  CUevent computed = nullptr;
  /// GPU memory that a barrier reduces, 4 bytes; allocated on first use.
  void *word = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
