//===- NcclGroup.cpp - group of GPUs connected by NCCL --------------------===//

#include "runtime/comm/nccl/NcclGroup.h"
#include "runtime/comm/GroupList.h"

#include <algorithm>
#include <cassert>
#include <optional>

namespace pcc::runtime {

NcclGroup::NcclGroup(std::shared_ptr<NcclJob> sharedJob,
                     std::vector<int> worldRanks, NcclLane own,
                     std::vector<EdgeLane> ownEdges)
    : job(std::move(sharedJob)), members(std::move(worldRanks)),
      self(indexAmong(members, job->rank)), lane(own),
      edges(std::move(ownEdges)), tickets(job->gpu) {
  assert(self >= 0 && "this rank is no member");
  assert((edges.empty() || !lane.comm) && "a group of edges has no lane");
}

/// Returns NCCL's data type for `type`; std::nullopt for I16 and U16, which
/// NCCL lacks.
static std::optional<ncclDataType_t> typeFor(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return ncclFloat32;
  case ElementType::F64:
    return ncclFloat64;
  case ElementType::F16:
    return ncclFloat16;
  case ElementType::BF16:
    return ncclBfloat16;
  case ElementType::I8:
    return ncclInt8;
  case ElementType::I32:
    return ncclInt32;
  case ElementType::I64:
    return ncclInt64;
  case ElementType::U8:
  case ElementType::Bool:
    return ncclUint8;
  case ElementType::U32:
    return ncclUint32;
  case ElementType::U64:
    return ncclUint64;
  default:
    return std::nullopt;
  }
}

/// Returns NCCL's operator for a reduction of kind `kind`. `type` is the type
/// of the elements. NCCL has no logical operators, but a Bool is stored as the
/// number 0 or 1. The maximum of these numbers is their logical or, and the
/// minimum is their logical and. A sum of Bools is true if at least one of them
/// is true. This is a logical or, so the operator is ncclMax.
static ncclRedOp_t opFor(dist::ReductionKind kind, ElementType type) {
  switch (kind) {
  case dist::ReductionKind::Sum:
    return type == ElementType::Bool ? ncclMax : ncclSum;
  case dist::ReductionKind::Max:
  case dist::ReductionKind::Or:
    return ncclMax;
  case dist::ReductionKind::Min:
  case dist::ReductionKind::And:
    return ncclMin;
  case dist::ReductionKind::Prod:
    return ncclProd;
  }
  return ncclSum;
}

/// Special value of the parameter `peer` of enqueue(). A call of enqueue()
/// enqueues one NCCL call. If the NCCL call communicates with only one member
/// of the group, `peer` is the index of this member. If the NCCL call
/// communicates with several members, `peer` is `everybody`. For example,
/// `peer` is `everybody` for an all-reduce.
static constexpr int everybody = -1;

static Status cannotReduce(ElementType type) {
  return Status::error(Defect,
                       "NCCL does not reduce " + std::string(nameOf(type)));
}

/// Makes one NCCL call on the lane `to`. A lane is an NCCL communicator with a
/// CUDA stream. `call` is a function that makes the NCCL call. `name` is the
/// name of the NCCL call in error messages.
///
/// The lane's stream first waits for all earlier work of the compute stream, on
/// which the GPU runs its kernels. note() gives the NCCL call a number.
/// noteEnd() makes the GPU store this number when the NCCL call is complete.
/// The stored number shows which call hangs, so that an error message can name
/// the call.
template <typename Call>
Status NcclGroup::enqueue(const NcclLane &to, const char *name,
                          const ActionId &action, int peer, Call call) {
  if (!to.comm)
    return Status::error(Defect, std::string(name) + " of " + action.value +
                                     " in a group that only posts");
  if (!computed)
    PCC_RETURN_IF_ERROR(job->gpu.createEvent(computed));
  PCC_RETURN_IF_ERROR(job->gpu.order(job->gpu.stream(), to.stream, computed));
  job->note(to, name, action, members, peer < 0 ? -1 : members[size_t(peer)]);
  PCC_RETURN_IF_ERROR(job->settle(call(), to.comm, name));
  return job->noteEnd(to);
}

template <typename Call>
Status NcclGroup::enqueueWithTicket(const char *name, const ActionId &action,
                                    int peer, Call call, Ticket &ticket) {
  Status status = enqueue(lane, name, action, peer, call);
  return status.failed() ? status : tickets.issue(lane.stream, ticket);
}

Status NcclGroup::finish(const Status &given, Ticket ticket) {
  return given.failed() ? given : tickets.redeem(ticket);
}

template <typename Function>
Status NcclGroup::postReduction(const char *name, Function reduce,
                                const Operands &operands,
                                const ActionId &action, Ticket &ticket) {
  const auto known = typeFor(operands.type);
  if (!known)
    return cannotReduce(operands.type);
  return enqueueWithTicket(
      name, action, everybody,
      [&] {
        return reduce(operands.in, operands.out, operands.count, *known,
                      opFor(operands.kind, operands.type), lane.comm,
                      lane.stream);
      },
      ticket);
}

Status NcclGroup::postAllReduce(const void *in, void *out, size_t count,
                                ElementType type, dist::ReductionKind kind,
                                const ActionId &action, Ticket &ticket) {
  return postReduction("all_reduce", job->library.ncclAllReduce,
                       {in, out, count, type, kind}, action, ticket);
}

Status NcclGroup::postReduceScatter(const void *in, void *out, size_t count,
                                    ElementType type, dist::ReductionKind kind,
                                    const ActionId &action, Ticket &ticket) {
  return postReduction("reduce_scatter", job->library.ncclReduceScatter,
                       {in, out, count, type, kind}, action, ticket);
}

Status NcclGroup::postAllGather(const void *in, void *out, size_t bytes,
                                const ActionId &action, Ticket &ticket) {
  return enqueueWithTicket(
      "all_gather", action, everybody,
      [&] {
        return job->library.ncclAllGather(in, out, bytes, ncclUint8, lane.comm,
                                          lane.stream);
      },
      ticket);
}

Status NcclGroup::allReduce(const void *in, void *out, size_t count,
                            ElementType type, dist::ReductionKind kind,
                            const ActionId &action) {
  Ticket ticket = 0;
  return finish(postAllReduce(in, out, count, type, kind, action, ticket),
                ticket);
}

Status NcclGroup::allGather(const void *in, void *out, size_t bytes,
                            const ActionId &action) {
  Ticket ticket = 0;
  return finish(postAllGather(in, out, bytes, action, ticket), ticket);
}

Status NcclGroup::broadcast(void *data, size_t bytes, int root,
                            const ActionId &action) {
  assert(root >= 0 && root < size() && "no member");
  Ticket ticket = 0;
  return finish(enqueueWithTicket(
                    "broadcast", action, everybody,
                    [&] {
                      return job->library.ncclBroadcast(data, data, bytes,
                                                        ncclUint8, root,
                                                        lane.comm, lane.stream);
                    },
                    ticket),
                ticket);
}

Status NcclGroup::barrier(const ActionId &action) {
  if (!word)
    PCC_RETURN_IF_ERROR(job->gpu.allocate(sizeof(int32_t), word));
  return allReduce(word, word, 1, ElementType::I32, dist::ReductionKind::Sum,
                   action);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

ncclResult_t NcclGroup::transfer(const NcclLane &on, const PeerBuffer &piece,
                                 int peer, bool isSend) const {
  const NcclLibrary &library = job->library;
  return isSend ? library.ncclSend(piece.data, piece.size, ncclUint8, peer,
                                   on.comm, on.stream)
                : library.ncclRecv(piece.data, piece.size, ncclUint8, peer,
                                   on.comm, on.stream);
}

/// Returns the name of a post() call for error messages. `sends` are the
/// messages that post() sends, and `receives` are the messages that post()
/// receives. The name is "send" if `receives` is empty. Otherwise the name is
/// "receive" if `sends` is empty, and "exchange" if both lists have messages.
static const char *nameOf(std::span<const PeerBuffer> sends,
                          std::span<const PeerBuffer> receives) {
  return receives.empty() ? "send" : sends.empty() ? "receive" : "exchange";
}

/// Returns the index of the only group member with which this rank
/// communicates. `sends` are the messages that this rank sends to other
/// members, and `receives` are the messages that this rank receives from other
/// members. For example, returns 3 if `sends` has a message to member 3, and
/// `receives` has a message from member 3. Returns `everybody` (-1) if this
/// rank communicates with several members, or if there are no messages.
static int onlyPeerOf(std::span<const PeerBuffer> sends,
                      std::span<const PeerBuffer> receives) {
  int only = everybody;
  for (const auto pieces : {sends, receives})
    for (const PeerBuffer &piece : pieces) {
      if (only != everybody && only != piece.peer)
        return everybody;
      only = piece.peer;
    }
  return only;
}

/// Transfers all messages in `sends` and `receives`. For this purpose, calls
/// ncclSend and ncclRecv between one ncclGroupStart() and one ncclGroupEnd().
/// NCCL then runs all transfers at the same time, so that they cannot deadlock.
/// Otherwise, for example, the GPUs of two ranks could both wait in ncclSend,
/// and neither GPU would begin its ncclRecv.
///
/// A group can have a separate communicator for each pair of a sender and a
/// receiver (edge). For such a group, calls postAlongEdges() instead.
Status NcclGroup::post(std::span<const PeerBuffer> sends,
                       std::span<const PeerBuffer> receives,
                       const ActionId &action, Ticket &ticket) {
  if (!edges.empty())
    return postAlongEdges(sends, receives, action, ticket);
  return enqueueWithTicket(
      nameOf(sends, receives), action, onlyPeerOf(sends, receives),
      [&] {
        ncclResult_t result = job->library.ncclGroupStart();
        for (const bool isSend : {true, false})
          for (const PeerBuffer &piece : isSend ? sends : receives)
            if (isBegun(result))
              result = transfer(lane, piece, piece.peer, isSend);
        const ncclResult_t ended = job->library.ncclGroupEnd();
        return isBegun(result) ? ended : result;
      },
      ticket);
}

/// Enqueues each message on the lane of its edge. An edge is a pair of sender
/// and receiver. A lane is an NCCL communicator with a CUDA stream. The lane of
/// an edge has two ranks: the sender is rank 0, and the receiver is rank 1.
///
/// The result `ticket` (handle for wait()) can refer to the work of only one
/// stream, but the messages run on several streams. On the GPU, the messages of
/// this call therefore run one after another: each message begins when the
/// previous message is complete. `ticket` refers to the last message. When the
/// last message is complete, all messages of this call are complete.
Status NcclGroup::postAlongEdges(std::span<const PeerBuffer> sends,
                                 std::span<const PeerBuffer> receives,
                                 const ActionId &action, Ticket &ticket) {
  bool isFirst = true;
  for (const bool isSend : {true, false})
    for (const PeerBuffer &piece : isSend ? sends : receives) {
      const int from = isSend ? self : piece.peer;
      const int to = isSend ? piece.peer : self;
      const auto found =
          std::find_if(edges.begin(), edges.end(), [&](const EdgeLane &entry) {
            return entry.edge.from == from && entry.edge.to == to;
          });
      const NcclLane on = found == edges.end() ? NcclLane() : found->lane;
      if (!isFirst)
        PCC_RETURN_IF_ERROR(tickets.redeem(ticket));
      isFirst = false;
      Status status =
          enqueue(on, isSend ? "send" : "receive", action, piece.peer,
                  [&] { return transfer(on, piece, isSend ? 1 : 0, isSend); });
      if (status.failed())
        return status;
      PCC_RETURN_IF_ERROR(tickets.issue(on.stream, ticket));
    }
  return Status::success();
}

Status NcclGroup::wait(std::span<const Ticket> awaited, const ActionId &) {
  for (Ticket ticket : awaited)
    PCC_RETURN_IF_ERROR(tickets.redeem(ticket));
  return Status::success();
}

} // namespace pcc::runtime
