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
/// tensor. Error messages contain both. For example, action "0F3" is the
/// forward (F) of microbatch 3 on stage 0.
struct ActionId {
  std::string action; ///< schedule action or phase, such as "0F3" or "load"
  std::string value;  ///< name of the tensor; may be empty
};

/// Memory of a point-to-point message with one other member of a group. A send
/// reads the memory, a receive writes it. The caller owns the memory.
struct PeerBuffer {
  int peer;    ///< index of the other member within the group
  void *data;  ///< read for sends, written for receives
  size_t size; ///< bytes; sender and receiver must pass the same size
};

/// Handle of an operation that post() has begun, for Group::wait(). Valid only
/// in the group that issued it.
using Ticket = uint64_t;

/// A group is a fixed, ordered set of ranks that communicate. Each member has
/// its own Group object. Only the thread that executes the rank may use the
/// object.
///
/// - Order: all members make the same calls in the same order, with matching
///   sizes. Exception: a member that neither sends nor receives a message need
///   not call post(), wait() or exchange().
/// - Blocking: post() and advance() return at once. All other calls block until
///   they are complete. While a call blocks, the messages of earlier post()
///   calls make progress, in this group and in the rank's other groups.
/// - Deadline: a call returns an error with exit code 14 if it blocks for
///   longer than the limit, World::deadline(). The error message names this
///   rank, the action (see ActionId) and the members that did not arrive.
/// - Sizes: if the members pass sizes that do not match, a call returns an
///   error with exit code 11. NCCL is an exception: it does not detect the
///   fault.
/// - Errors: an error of any call ends the run on all ranks.
///
/// If the ranks are connected by NCCL, the rule for blocking is different:
///
/// - The calls of a QueuedGroup do not block. Each call enqueues its work on a
///   CUDA stream, and returns at once. createGroups() and createExchanges()
///   create groups of the class QueuedGroup. The buffers of these groups are in
///   GPU memory.
/// - The calls of the group World::all() block, and post() blocks too. The
///   buffers of this group are in host memory.
class Group {
public:
  virtual ~Group() = default;

  /// Returns the number of ranks in the group.
  virtual int size() const = 0;
  /// Returns the position of this rank in the list of the group's members, from
  /// 0 to size() - 1.
  virtual int index() const = 0;

  /// Reduces the `count` elements of `in` element-wise over all members, into
  /// `out` on every member. `in` and `out` must be equal or disjoint.
  /// Counterpart of MPI_Iallreduce and ncclAllReduce.
  ///
  /// If the ranks are threads or MPI processes, sums of f16 and bf16 accumulate
  /// in f32. NCCL chooses the accumulation type itself.
  virtual Status allReduce(const void *in, void *out, size_t count,
                           ElementType type, dist::ReductionKind kind,
                           const ActionId &action) = 0;

  /// Copies `bytes` bytes of every member to all members. `in` has the bytes of
  /// this member. The bytes of all members are concatenated in `out`, in member
  /// order. `out` has space for size() * `bytes` bytes. For example, the group
  /// has 2 members, and `bytes` is 4. Bytes 0 to 3 of `out` then come from
  /// member 0, and bytes 4 to 7 come from member 1. `in` may point to the bytes
  /// of `out` that come from this member. Counterpart of MPI_Iallgather and
  /// ncclAllGather.
  virtual Status allGather(const void *in, void *out, size_t bytes,
                           const ActionId &action) = 0;

  /// Begins to send the messages `sends` and to receive the messages
  /// `receives`. Sets `ticket`, the handle for wait(). The messages' memory
  /// stays in use until wait() has succeeded.
  ///
  /// - Messages from one member to another arrive in the order in which they
  ///   were posted.
  /// - Messages with one peer do not wait for messages with another peer.
  /// - A member may send one message per call to itself; it is copied.
  /// - No collective of the group may be called while messages are in flight.
  virtual Status post(std::span<const PeerBuffer> sends,
                      std::span<const PeerBuffer> receives,
                      const ActionId &action, Ticket &ticket) = 0;

  /// Blocks until the messages of earlier post() calls are sent and received.
  /// `tickets` are the handles that these calls returned.
  virtual Status wait(std::span<const Ticket> tickets,
                      const ActionId &action) = 0;

  /// Transfers data of the messages that earlier post() calls have begun.
  /// Transfers as much data as possible without blocking.
  ///
  /// If the ranks are threads or MPI processes, a rank transfers data only
  /// while it executes a function of a group, such as wait(). While the rank
  /// computes, it executes no such function. The rank should therefore
  /// interrupt its computation from time to time to call advance().
  ///
  /// If a message fails, advance() does not return an error. The later wait()
  /// for the message returns the error.
  virtual void advance() = 0;

  /// Sends the messages `sends`, receives the messages `receives`, and blocks
  /// until all are complete. Counterpart of ncclSend and ncclRecv in one NCCL
  /// group.
  Status exchange(std::span<const PeerBuffer> sends,
                  std::span<const PeerBuffer> receives,
                  const ActionId &action) {
    Ticket ticket = 0;
    PCC_RETURN_IF_ERROR(post(sends, receives, action, ticket));
    return wait({&ticket, 1}, action);
  }

  /// Copies the `bytes` bytes at `data` from member `root` (an index in the
  /// group) to all members. Counterpart of MPI_Ibcast and ncclBroadcast.
  virtual Status broadcast(void *data, size_t bytes, int root,
                           const ActionId &action) = 0;

  /// Blocks until every member of the group has called barrier().
  virtual Status barrier(const ActionId &action) = 0;
};

class FlightRecorder;
class QueuedWorld;

/// A world is the set of all ranks of a run. Each rank has its own World
/// object, which creates the groups to which the rank belongs. Only the thread
/// that executes the rank may use the object. Exception: if the ranks are
/// threads or MPI processes, any thread may call abort().
class World {
public:
  virtual ~World() = default;
  /// Returns this rank, from 0 to size() - 1.
  virtual int rank() const = 0;
  /// Returns the number of ranks in the world.
  virtual int size() const = 0;

  /// Creates one group per entry of `groups`. An entry lists the members' world
  /// ranks in group order. All ranks of the world must call with the same
  /// lists. `created[i]` becomes this rank's view of group i; null if this rank
  /// is no member. Exit code 11 for an invalid list.
  virtual Status createGroups(const std::vector<std::vector<int>> &groups,
                              std::vector<std::unique_ptr<Group>> &created) = 0;

  /// Returns the group of all ranks of the world. Its buffers are in host
  /// memory, even with NCCL.
  virtual Group &all() = 0;

  /// Returns this rank's flight recorder (log of the rank's latest activities).
  virtual FlightRecorder &recorder() = 0;

  /// A directed connection between two members of a group. `from` and `to` are
  /// indices of members in the group.
  struct PeerEdge {
    int from, to;
  };
  /// Creates groups whose members only send point-to-point messages to each
  /// other. The members must not call collectives, such as allReduce(). No rank
  /// may be in two of the groups. `groups` lists the world ranks of each group.
  /// All ranks of the world must call with the same `groups` and `edges`.
  /// `created[i]` becomes this rank's view of group i; null if this rank is no
  /// member.
  ///
  /// `edges` lists the pairs of a sender and a receiver between which messages
  /// may be sent. The pairs apply to every group. For example, a group has the
  /// world ranks 4, 5 and 6. `edges` has the pairs 0 -> 1 and 1 -> 2, which are
  /// indices in the group. Rank 4 may then send messages to rank 5, and rank 5
  /// may send messages to rank 6. No other messages are allowed.
  ///
  /// With NCCL, each pair gets an NCCL communicator of its own.
  virtual Status createExchanges(const std::vector<std::vector<int>> &groups,
                                 std::span<const PeerEdge> edges,
                                 std::vector<std::unique_ptr<Group>> &created) {
    return createGroups(groups, created);
  }

  /// Returns null if the ranks are threads or MPI processes. If the ranks are
  /// connected by NCCL, returns an object that reports whether the
  /// communication on CUDA streams has completed or failed.
  ///
  /// With NCCL, createGroups() and createExchanges() create objects of the
  /// class QueuedGroup. A call of such a group, for example allReduce(),
  /// enqueues its work on a CUDA stream, and returns before the work is
  /// complete. The group all() is not a QueuedGroup: its calls block until they
  /// are complete.
  virtual QueuedWorld *queued() { return nullptr; }

  /// Sets the limit for the duration of one wait, in seconds. The limit applies
  /// to all later waits of this rank for other ranks. A wait that takes longer
  /// returns exit code 14.
  virtual void setDeadline(double seconds) = 0;
  /// Returns the limit for the duration of one wait, in seconds. A wait for
  /// other ranks that takes longer returns exit code 14.
  virtual double deadline() const = 0;

  /// Ends the run on all ranks: every wait, on any rank, returns the error
  /// `reason`. Later calls of abort() have no effect. A long text may be cut on
  /// other ranks.
  ///
  /// If the ranks are threads or MPI processes, any thread may call. With NCCL,
  /// only the rank's thread may call.
  virtual void abort(const Status &reason) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_COMMUNICATOR_H
