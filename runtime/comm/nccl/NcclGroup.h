//===- NcclGroup.h - a group by NCCL --------------------------------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
#define PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H

#include "runtime/comm/QueuedGroup.h"
#include "runtime/comm/nccl/NcclJob.h"
#include "runtime/comm/nccl/NcclTickets.h"

namespace pcc::runtime {

/// The lane of one edge between two members.
struct EdgeLane {
  World::PeerEdge edge;
  NcclLane lane;
};

/// Calls go one after another to the group's lane, the pieces of one call side
/// by side; pieces of a edge that has a lane of its own go there instead.
class NcclGroup final : public QueuedGroup {
public:
  /// `members` are world ranks, in the order of the lane's. Without a lane the
  /// group only posts, along `edges`.
  NcclGroup(std::shared_ptr<NcclJob> job, std::vector<int> members,
            NcclLane lane, std::vector<EdgeLane> edges = {});

  int size() const override { return int(members.size()); }
  int index() const override { return self; }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   Reduction kind, const ActionId &action) override;
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
                       ElementType type, Reduction kind, const ActionId &action,
                       Ticket &ticket) override;
  Status postAllGather(const void *in, void *out, size_t bytes,
                       const ActionId &action, Ticket &ticket) override;
  Status postReduceScatter(const void *in, void *out, size_t count,
                           ElementType type, Reduction kind,
                           const ActionId &action, Ticket &ticket) override;

private:
  /// Gives `call`, one of NCCL's, to a lane, behind what the GPU computes now.
  /// It waits for member `peer`, or, if negative, for all.
  template <typename Call>
  Status enqueue(const NcclLane &to, const char *name, const ActionId &action,
                 int peer, Call call);
  /// The same, on the group's lane, with a ticket.
  template <typename Call>
  Status enqueueWithTicket(const char *name, const ActionId &action, int peer,
                           Call call, Ticket &ticket);
  /// What the GPU computes next waits for it.
  Status finish(Status given, Ticket ticket);

  Status postAlongEdges(std::span<const PeerBuffer> sends,
                        std::span<const PeerBuffer> receives,
                        const ActionId &action, Ticket &ticket);
  ncclResult_t transfer(const NcclLane &on, const PeerBuffer &piece, int peer,
                        bool isSend) const;

  std::shared_ptr<NcclJob> job;
  std::vector<int> members;
  int self;
  NcclLane lane;
  std::vector<EdgeLane> edges;
  NcclTickets tickets;
  CUevent computed = nullptr;
  void *word = nullptr; ///< that a barrier reduces
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_NCCLGROUP_H
