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
  /// Creates this rank's object for a group of ranks. `members` lists the world
  /// ranks of the group. There are two kinds of groups:
  ///
  /// - For all operations: `edges` is empty. `lane` is the NCCL communicator
  ///   with the CUDA stream on which all operations run. Rank i of the
  ///   communicator is world rank `members[i]`.
  /// - For messages only: `edges` lists the pairs of a sender and a receiver to
  ///   which this rank belongs. Each pair has its own communicator and stream,
  ///   so `lane` must be NcclLane(). The function post() sends a message to the
  ///   receiver of a pair, or receives a message from the sender. The function
  ///   wait() waits for these messages. All collectives return exit code 1.
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
  /// Arguments of an all-reduce or a reduce-scatter. The NCCL function reads
  /// GPU memory `in` and writes GPU memory `out`. `type` is the type of an
  /// element. `kind` is the operator, such as a sum.
  ///
  /// `count` is the number of elements that each member of the group gets in
  /// `out`. For an all-reduce, `in` also has `count` elements. For a
  /// reduce-scatter, `in` has `count` elements per member of the group. An
  /// example with `count` = 10 and 4 members:
  ///
  ///                      elements of in   elements of out
  ///   all-reduce         10               10
  ///   reduce-scatter     40               10
  struct Operands {
    const void *in;
    void *out;
    size_t count;
    ElementType type;
    dist::ReductionKind kind;
  };

  /// Enqueues an all-reduce or a reduce-scatter on the communicator and the
  /// CUDA stream of the group. Sets `ticket`, the handle for wait().
  ///
  /// - `name`: name of the operation in error messages, such as "all_reduce".
  /// - `reduce`: the NCCL function, ncclAllReduce or ncclReduceScatter.
  /// - `operands`: arguments of the NCCL function.
  /// - `action`: schedule action and tensor for which this rank communicates.
  ///   Error messages contain both names.
  template <typename Function>
  Status postReduction(const char *name, Function reduce,
                       const Operands &operands, const ActionId &action,
                       Ticket &ticket);
  /// Enqueues an NCCL call on lane `to`. A lane is an NCCL communicator with a
  /// CUDA stream. The kernels of this rank run on a different stream, the
  /// compute stream. The NCCL call starts after all work that is already
  /// enqueued on the compute stream.
  ///
  /// - `name`: name of the NCCL call in error messages, such as "all_reduce".
  /// - `action`: schedule action and tensor for which this rank communicates.
  ///   Error messages contain both names.
  /// - `peer`: index of the other member in the group, if the NCCL call
  ///   communicates with only one member. Otherwise -1, as for a collective.
  /// - `call`: function that makes the NCCL call, and returns its ncclResult_t.
  template <typename Call>
  Status enqueue(const NcclLane &to, const char *name, const ActionId &action,
                 int peer, Call call);
  /// Enqueues an NCCL call on the communicator and the CUDA stream of the group
  /// (`lane`), and sets `ticket`, the handle for wait(). The call starts after
  /// all kernels that are already enqueued on the compute stream of this rank.
  /// Kernels that are enqueued later may run at the same time as the call.
  /// Kernels that are enqueued after wait() start when the call is complete.
  ///
  /// `name`, `action`, `peer` and `call` have the same meaning as in enqueue().
  template <typename Call>
  Status enqueueWithTicket(const char *name, const ActionId &action, int peer,
                           Call call, Ticket &ticket);
  /// Makes the compute stream, which runs the kernels of this rank, wait for an
  /// NCCL call on another stream. Kernels that are enqueued after finish() thus
  /// start after the NCCL call is complete. Does not block the host.
  ///
  /// `ticket` is the handle of the NCCL call. `given` is success if the NCCL
  /// call has been enqueued, otherwise an error. If `given` is an error,
  /// finish() returns this error and does nothing else.
  Status finish(const Status &given, Ticket ticket);

  /// Implements post() for a group with edges. An edge is a pair of a sender
  /// and a receiver. Each edge has its own lane, which is an NCCL communicator
  /// with a CUDA stream.
  ///
  /// - `sends`: messages that this rank sends. A message to member 3 uses the
  ///   lane of the edge from this rank to member 3.
  /// - `receives`: messages that this rank receives. A message from member 3
  ///   uses the lane of the edge from member 3 to this rank.
  /// - `action`: schedule action and tensor for which this rank communicates.
  ///   Error messages contain both names.
  /// - `ticket`: set to the handle that the caller passes to wait(). wait()
  ///   makes the compute stream wait for all messages of this call.
  Status postAlongEdges(std::span<const PeerBuffer> sends,
                        std::span<const PeerBuffer> receives,
                        const ActionId &action, Ticket &ticket);
  /// Calls ncclSend if `isSend` is true, otherwise ncclRecv. The NCCL call runs
  /// on lane `on`, which is an NCCL communicator with a CUDA stream.
  ///
  /// - `piece`: address and size of the message in GPU memory.
  /// - `peer`: the other rank, as a rank of the lane's communicator. The data
  ///   member `piece.peer` is not used.
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
  /// Address of 4 bytes of GPU memory; null before the first barrier(). NCCL
  /// has no barrier function. barrier() therefore makes an all-reduce of these
  /// 4 bytes. The all-reduce is complete only when all members have begun it.
  /// The value of the bytes does not matter.
  void *word = nullptr;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
