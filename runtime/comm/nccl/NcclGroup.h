//===- NcclGroup.h - group of GPUs connected by NCCL ----------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
#define PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H

#include "runtime/comm/QueuedGroup.h"
#include "runtime/comm/nccl/NcclJob.h"
#include "runtime/comm/nccl/NcclTickets.h"

namespace pcc::runtime {

/// A directed connection between two members of a group, with the lane (NCCL
/// communicator and CUDA stream) for its messages.
struct EdgeLane {
  World::PeerEdge edge;
  NcclLane lane;
};

/// A group of ranks whose operations are NCCL calls on CUDA streams. A lane is
/// an NCCL communicator with a stream. There are two kinds of groups:
///
/// - For all operations: one lane; operations run one after another.
/// - For pipeline messages: one lane per edge (pair of sender and receiver), so
///   that messages of different edges do not wait for each other.
class NcclGroup final : public QueuedGroup {
public:
  /// Creates the group of the world ranks `members`. `lane` (communicator and
  /// stream) has the same ranks in the same order.
  ///
  /// If there are `edges` (connections between two members), `lane` must be
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
  /// Operands of a reduction. `count` is the argument of the NCCL call:
  /// elements of `in` for an all-reduce, of `out` for a reduce-scatter.
  struct Operands {
    const void *in;
    void *out;
    size_t count;
    ElementType type;
    dist::ReductionKind kind;
  };

  /// Enqueues a reduction on the group's lane (communicator and stream), and
  /// sets `ticket`, the handle for wait(). `reduce` is the NCCL function,
  /// `name` its name in messages.
  template <typename Function>
  Status postReduction(const char *name, Function reduce,
                       const Operands &operands, const ActionId &action,
                       Ticket &ticket);
  /// Enqueues an NCCL call on lane `to` (communicator and stream), behind all
  /// enqueued work of the compute stream.
  ///
  /// - `name`: the call's name in messages
  /// - `peer`: index of the only member that the call needs; -1 if it needs all
  /// - `call`: function that makes the NCCL call and returns its result
  template <typename Call>
  Status enqueue(const NcclLane &to, const char *name, const ActionId &action,
                 int peer, Call call);
  /// Enqueues an NCCL call on the group's lane (communicator and stream), with
  /// the arguments of enqueue(). Sets `ticket` to the call's handle. If the
  /// host enqueues work after wait(`ticket`), the GPU runs it after the call.
  template <typename Call>
  Status enqueueWithTicket(const char *name, const ActionId &action, int peer,
                           Call call, Ticket &ticket);
  /// `given` is the result of enqueuing an operation, `ticket` its handle.
  /// Returns `given` if it is an error. Otherwise makes later work on the
  /// compute stream wait for the operation.
  Status finish(const Status &given, Ticket ticket);

  /// Implements post() for a group with edges (pairs of sender and receiver):
  /// every message runs on the lane (communicator and stream) of its edge.
  Status postAlongEdges(std::span<const PeerBuffer> sends,
                        std::span<const PeerBuffer> receives,
                        const ActionId &action, Ticket &ticket);
  /// Calls ncclSend or ncclRecv on lane `on` (communicator and stream). `peer`
  /// is a rank of the lane's communicator.
  ncclResult_t transfer(const NcclLane &on, const PeerBuffer &piece, int peer,
                        bool isSend) const;

  std::shared_ptr<NcclJob> job;
  std::vector<int> members;
  int self;
  NcclLane lane; ///< empty if the group has edges
  std::vector<EdgeLane> edges;
  NcclTickets tickets;
  /// CUDA event by which an NCCL call waits for earlier work of the compute
  /// stream. Created on first use.
  CUevent computed = nullptr;
  /// GPU memory of 4 bytes for barrier(); allocated on first use.
  void *word = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
