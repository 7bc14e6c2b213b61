//===- Communicator.h - interface of communicators: World and Group -------===//
//
// One interface for ranks as threads (comm/thread), ranks as MPI processes
// (comm/mpi), and ranks with a GPU each, connected by NCCL (comm/nccl). One
// conformance suite (test/conformance) tests all three.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_COMMUNICATOR_H
#define PCC_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/tensor/ElementType.h"
#include "sharding/ReductionKind.h"
#include "status/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Identifies the work for which a rank communicates: a schedule action and a
/// tensor. An example of an action is "0F3", the forward (F) of microbatch 3 on
/// stage 0. Error messages and the flight recorder (log of a rank's latest
/// activities) name every wait by its ActionId.
struct ActionId {
  std::string action; ///< schedule action or phase, such as "0F3" or "load"
  std::string value;  ///< name of the tensor; may be empty
};

/// Memory of a point-to-point message between this rank and one other member of
/// a group. For a send, the memory contains the bytes to send; for a receive,
/// the received bytes are written there. The caller owns the memory.
struct PeerBuffer {
  int peer;    ///< index of the other member within the group
  void *data;  ///< read for sends, written for receives
  size_t size; ///< bytes; sender and receiver must pass the same size
};

/// Handle of an operation that post() has begun. The caller later passes the
/// ticket to Group::wait(), which waits for that operation. A ticket is valid
/// only in the group that issued it.
using Ticket = uint64_t;

/// One rank's view of a group: a fixed, ordered set of ranks that communicate.
/// Only the rank's thread may call.
///
/// - Order: all members must make the same calls in the same order with
///   matching sizes. Point-to-point messages (post, wait, exchange) are an
///   exception: a member that neither sends nor receives need not call.
/// - Blocking: post() and advance() return at once. All other calls block until
///   this rank's part of the operation is complete. In groups on device queues
///   (CUDA streams), no call blocks: see QueuedGroup.
/// - Deadline: a call that blocks longer than the world's deadline
///   (World::setDeadline) returns exit code 14. The message names this rank,
///   the action, the peers that did not arrive, and the seconds waited.
/// - Sizes: with threads and MPI, a call returns exit code 11 if members call
///   with different sizes.
///
/// If the deadline passes, the call returns exit code 14 with a message that
/// names this rank, the action, the peers that did not arrive, and the seconds
/// waited. Communicators of threads and of MPI also detect members that call
/// with different sizes (exit code 11). Either error ends the run on all ranks.
///
/// While a call of any group blocks, the posted messages of all groups of this
/// rank advance. So ranks do not wait for each other in a circle if some wait
/// for messages and others for a collective.
///
/// Groups of devices with queues differ: see QueuedGroup.
class Group {
public:
  virtual ~Group() = default;

  /// Returns the number of members.
  virtual int size() const = 0;
  /// Returns this rank's index within the group.
  virtual int index() const = 0;

  /// Reduces `in`, an array of `count` elements, element-wise over all members,
  /// and writes the result to `out` on every member. `in` and `out` may be
  /// equal; otherwise they must not overlap. Counterpart of MPI_Iallreduce and
  /// ncclAllReduce.
  ///
  /// With threads and MPI, sums of f16 and bf16 accumulate in f32
  /// (TreeReduce.h). NCCL chooses the accumulation type itself.
  virtual Status allReduce(const void *in, void *out, size_t count,
                           ElementType type, dist::ReductionKind kind,
                           const ActionId &action) = 0;

  /// Concatenates `bytes` bytes of every member into `out`, in member order.
  /// `out` has size() * `bytes` bytes; `in` may be this member's part of `out`.
  /// Counterpart of MPI_Iallgather and ncclAllGather.
  virtual Status allGather(const void *in, void *out, size_t bytes,
                           const ActionId &action) = 0;

  /// Begins to send all messages `sends` and to receive all messages
  /// `receives`, and returns. Sets `ticket`, the handle for wait(). The
  /// messages' memory is in use until wait() has returned success for `ticket`.
  ///
  /// - Order: messages from one member to another are matched in order, over
  ///   all calls of post() and exchange(). The third message that member 0
  ///   sends to member 1 is the third that member 1 receives from member 0.
  /// - Messages with one peer do not wait for messages with another peer.
  /// - A member may send at most one message per call to itself. This message
  ///   is copied.
  /// - No collective of the group may be called while messages are in flight.
  virtual Status post(std::span<const PeerBuffer> sends,
                      std::span<const PeerBuffer> receives,
                      const ActionId &action, Ticket &ticket) = 0;

  /// Blocks until all messages that post() began under `tickets` (handles that
  /// post() returned) have been sent and received.
  virtual Status wait(std::span<const Ticket> tickets,
                      const ActionId &action) = 0;

  /// Advances the messages begun by post() as far as possible without blocking.
  /// Threads and MPI move data only inside calls. A rank that computes while
  /// messages are in flight therefore calls advance() from time to time. The
  /// next wait() reports any error.
  virtual void advance() = 0;

  /// Sends all messages `sends`, receives all messages `receives`, and blocks
  /// until all are complete. Counterpart of ncclSend and ncclRecv between
  /// ncclGroupStart and ncclGroupEnd.
  Status exchange(std::span<const PeerBuffer> sends,
                  std::span<const PeerBuffer> receives,
                  const ActionId &action) {
    Ticket ticket = 0;
    PCC_RETURN_IF_ERROR(post(sends, receives, action, ticket));
    return wait({&ticket, 1}, action);
  }

  /// Copies `bytes` bytes from `data` of member `root` (an index within the
  /// group) to `data` of all members. Counterpart of MPI_Ibcast and
  /// ncclBroadcast.
  virtual Status broadcast(void *data, size_t bytes, int root,
                           const ActionId &action) = 0;

  /// Blocks until every member of the group has called barrier().
  virtual Status barrier(const ActionId &action) = 0;
};

class FlightRecorder;
class QueuedWorld;

/// One rank's view of all ranks of a run; creates groups of these ranks. Only
/// the rank's thread may call, except for functions whose comment allows other
/// threads.
class World {
public:
  virtual ~World() = default;
  /// Returns this rank, from 0 to size() - 1.
  virtual int rank() const = 0;
  /// Returns the number of ranks in the world.
  virtual int size() const = 0;

  /// Creates one group per entry of `groups`. An entry lists the world ranks of
  /// the members, in group order. All ranks of the world must call with the
  /// same lists, even if they are no members.
  ///
  /// `created[i]` becomes this rank's view of group i, or null if this rank is
  /// no member. Exit code 11 if an entry is empty, has a rank twice, or has a
  /// rank outside the world.
  virtual Status createGroups(const std::vector<std::vector<int>> &groups,
                              std::vector<std::unique_ptr<Group>> &created) = 0;

  /// Returns the group of all ranks of the world. The buffers that are passed
  /// to this group must be in host memory, even if the communicator is NCCL.
  virtual Group &all() = 0;

  /// Returns this rank's flight recorder, a log of the rank's latest
  /// activities. All groups of this world record their waits there.
  virtual FlightRecorder &recorder() = 0;

  /// A directed connection between two members of a group. `from` and `to` are
  /// indices of members in the group.
  struct PeerEdge {
    int from, to;
  };
  /// Creates groups for point-to-point messages only. `groups` and `created`
  /// have the same meaning as in createGroups(), but no rank may be in two
  /// groups. In each group, messages may use only the connections in `edges`.
  /// An implementation may give each connection a channel, so that a message
  /// never waits for a message of another connection.
  virtual Status createExchanges(const std::vector<std::vector<int>> &groups,
                                 std::span<const PeerEdge> edges,
                                 std::vector<std::unique_ptr<Group>> &created) {
    return createGroups(groups, created);
  }

  /// Returns the interface to the device queues (such as CUDA streams) of this
  /// world's groups. Returns null if the groups do not use queues. In a world
  /// with queues, every group is a QueuedGroup, except for all().
  virtual QueuedWorld *queued() { return nullptr; }

  /// Sets the longest time that one wait may last, in seconds. Applies to all
  /// waits that begin after this call.
  virtual void setDeadline(double seconds) = 0;
  /// Returns the longest time that one wait may last, in seconds (setDeadline).
  virtual double deadline() const = 0;

  /// Ends the run on all ranks. Every wait, on any rank, then returns the error
  /// `reason` with its notes. If several ranks call abort(), only the first
  /// reason counts. A long text may be cut on ranks in other processes.
  ///
  /// With threads and MPI, any thread may call; with NCCL, only the rank's
  /// thread.
  virtual void abort(const Status &reason) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_COMMUNICATOR_H
