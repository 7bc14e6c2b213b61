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

/// Number that identifies communication which a Group object has begun. A call
/// such as Group::post() begins the communication, and gives a ticket to the
/// caller. The caller later passes the ticket to wait() of the same Group
/// object. Other Group objects cannot use the ticket.
using Ticket = uint64_t;

/// Fixed, ordered set of ranks that communicate. Each member has its own Group
/// object, which only the thread of the rank may use. All members must call the
/// same functions in the same order. Only post(), wait() and exchange() may be
/// skipped, by a member without messages. All functions except post() and
/// advance() block, and meanwhile transfer posted messages of all groups of the
/// rank. Any error ends the run: exit code 14 after a wait of World::deadline()
/// seconds, 11 if the members' sizes differ. NCCL does not compare sizes. With
/// NCCL, post() of World::all() blocks, and all other groups are QueuedGroup
/// objects.
class Group {
public:
  virtual ~Group() = default;

  /// Returns the number of ranks in the group.
  virtual int size() const = 0;
  /// Returns the index of this rank in the list of the group's members, from 0
  /// to size() - 1.
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
  /// `receives`. Sets `ticket`, the handle for wait(). The memory of the
  /// messages stays in use until wait() has succeeded. Messages from one member
  /// to another arrive in the order of the post() calls. Except with NCCL,
  /// messages to or from different members do not wait for each other. A member
  /// may send one message per call to itself, which both lists must contain.
  ///
  /// A member must not call a collective of the group, such as allReduce(),
  /// before wait() has returned for all messages.
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

  /// Creates one group for each entry of `groups`. An entry lists the world
  /// ranks of the members of the group. For example, the entry {4, 6} is a
  /// group in which world rank 4 has the index 0 and world rank 6 has the index
  /// 1. All ranks of the world must call this function, and must pass the same
  /// `groups`.
  ///
  /// Sets `created[i]` to this rank's Group object for the group `groups[i]`.
  /// Sets `created[i]` to null if this rank is not a member of the group.
  ///
  /// Returns an error with exit code 11 if an entry is invalid. For example, an
  /// empty entry and the entry {4, 4} are invalid.
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
  /// Creates one group for each entry of `groups`, for point-to-point messages
  /// only. An entry lists the world ranks of the members. A rank may be in at
  /// most one entry. All ranks must call the function with equal `groups` and
  /// `edges`. Sets `created[i]` to this rank's object for group i, or to null
  /// if this rank is not a member.
  ///
  /// In each group, a message may only go along one of the `edges`. For
  /// example, in the group {4, 5, 6} the edge {0, 1} allows messages from world
  /// rank 4 to world rank 5. Each edge has its own NCCL communicator.
  virtual Status createExchanges(const std::vector<std::vector<int>> &groups,
                                 std::span<const PeerEdge> edges,
                                 std::vector<std::unique_ptr<Group>> &created) {
    return createGroups(groups, created);
  }

  /// Returns an object that monitors the communication on CUDA streams, if the
  /// ranks are connected by NCCL. Returns null if the ranks are threads or MPI
  /// processes.
  ///
  /// If the ranks are connected by NCCL, a function such as allReduce() only
  /// enqueues its work on a CUDA stream, and returns before the work is
  /// complete. The function therefore cannot return an error that occurs during
  /// the work. The caller must ask the object whether the work has completed or
  /// failed. The functions of the group all() are an exception: each of them
  /// blocks until its work is complete.
  virtual QueuedWorld *queued() { return nullptr; }

  /// Sets the limit for the duration of one wait, in seconds. The limit applies
  /// to all later waits of this rank for other ranks. A wait that takes longer
  /// returns exit code 14.
  virtual void setDeadline(double seconds) = 0;
  /// Returns the limit for the duration of one wait, in seconds. A wait for
  /// other ranks that takes longer returns exit code 14.
  virtual double deadline() const = 0;

  /// Ends the run on all ranks. Every wait, on any rank, then returns the error
  /// `reason`. If abort() is called again, the later call has no effect. If the
  /// error message of `reason` is long, other ranks may receive only the
  /// beginning of the message.
  ///
  /// If the ranks are threads or MPI processes, any thread of a rank may call
  /// abort(). If the ranks are connected by NCCL, only the thread that executes
  /// the rank may call abort().
  virtual void abort(const Status &reason) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_COMMUNICATOR_H
