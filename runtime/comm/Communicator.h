//===- Communicator.h - what every communicator offers to the engine ------===//
//
// One interface for ranks as threads (comm/thread), as MPI processes (comm/mpi)
// and as GPUs that NCCL connects (comm/nccl). All three pass one conformance
// suite (test/conformance).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_COMM_COMMUNICATOR_H
#define PCC_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/base/Status.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

enum class Reduction : uint8_t { Sum, Max, Min, Prod };

/// What the engine was doing when it waited: goes into every deadline message.
struct ActionId {
  std::string action; ///< for instance "0F3" or "load"
  std::string value;  ///< the tensor's name
};

/// A piece of memory to send to, or to receive from, one member of a group.
struct PeerBuffer {
  int peer;    ///< index within the group
  void *data;  ///< read for sends, written for receives
  size_t size; ///< bytes; both sides must agree
};

/// What a group gave for a call of post(); each has its own.
using Ticket = uint64_t;

/// A fixed, ordered set of ranks that communicate. Calls but post() and
/// advance() block the caller until this rank's part is complete, poll with a
/// deadline, and must be made by all members in the same order with matching
/// sizes. On failure the Status names this rank, the action, the peers that did
/// not arrive and the seconds waited (exit code 14).
class Group {
public:
  virtual ~Group() = default;

  virtual int size() const = 0;
  /// This rank's index within the group.
  virtual int index() const = 0;

  /// Reduces `count` elements of `in` over the group into `out` on every
  /// member; `in == out` is allowed. Same meaning as MPI_Iallreduce and
  /// ncclAllReduce. Floats narrower than f32 accumulate in f32.
  virtual Status allReduce(const void *in, void *out, size_t count,
                           ElementType type, Reduction kind,
                           const ActionId &action) = 0;

  /// Concatenates `bytes` bytes of every member into `out` in member order.
  /// Same meaning as MPI_Iallgather, ncclAllGather.
  virtual Status allGather(const void *in, void *out, size_t bytes,
                           const ActionId &action) = 0;

  /// Begins to send every piece of `sends` and to receive every piece of
  /// `receives`, and returns: their memory is in use until a wait for `ticket`
  /// has succeeded. No peer has to wait for another one. Between two members
  /// the k-th piece that one sends is the k-th that the other receives, over
  /// all posts and exchanges; other calls of the group have to wait until none
  /// is under way. A piece to oneself is a copy, one per call at most. Members
  /// without pieces need not call.
  virtual Status post(std::span<const PeerBuffer> sends,
                      std::span<const PeerBuffer> receives,
                      const ActionId &action, Ticket &ticket) = 0;

  /// Returns when everything that was posted under `tickets` is complete.
  virtual Status wait(std::span<const Ticket> tickets,
                      const ActionId &action) = 0;

  /// Moves on what has been posted, as far as that needs no waiting: to be
  /// called now and then by who computes meanwhile. What goes wrong is told by
  /// the next wait.
  virtual void advance() = 0;

  /// Sends and receives, and returns when all of it is complete (a grouped
  /// send/recv).
  Status exchange(std::span<const PeerBuffer> sends,
                  std::span<const PeerBuffer> receives,
                  const ActionId &action) {
    Ticket ticket = 0;
    if (Status status = post(sends, receives, action, ticket); status.failed())
      return status;
    return wait({&ticket, 1}, action);
  }

  /// Copies `bytes` bytes of member `root` to all. Same meaning as MPI_Ibcast,
  /// ncclBroadcast.
  virtual Status broadcast(void *data, size_t bytes, int root,
                           const ActionId &action) = 0;

  /// Returns when every member has called.
  virtual Status barrier(const ActionId &action) = 0;
};

class FlightRecorder;

/// All ranks of a run, and the factory of groups.
class World {
public:
  virtual ~World() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Collective over the *world*: every rank calls with the list of all groups
  /// in the same order, and gets the group that it is a member of for each
  /// entry, or null. `members` are world ranks in group order.
  virtual Status createGroups(const std::vector<std::vector<int>> &groups,
                              std::vector<std::unique_ptr<Group>> &created) = 0;

  /// The group of all ranks.
  virtual Group &all() = 0;

  /// Where this rank notes what it does; its groups note every wait.
  virtual FlightRecorder &recorder() = 0;

  /// Makes groups, as createGroups() does, whose members only post pieces: one
  /// way between two members, `from` and `to` by their indices, is independent
  /// of the other edges.
  struct PeerEdge {
    int from, to;
  };
  virtual Status createExchanges(const std::vector<std::vector<int>> &groups,
                                 std::span<const PeerEdge> edges,
                                 std::vector<std::unique_ptr<Group>> &created) {
    return createGroups(groups, created);
  }

  /// Of groups that begin what they do (QueuedGroup.h): what is begun from now
  /// on is recorded by the device; the device does it again.
  virtual void beginRecording() {}
  virtual void beginReplay() {}
  /// What has gone wrong.
  virtual Status poll() { return Status::success(); }
  /// Changes whenever one of them is done with something.
  virtual uint64_t progress() const { return 0; }
  /// None of them was for `seconds`, which is too long.
  virtual Status missed(double seconds) {
    return Status::error(PeerLost, "rank " + std::to_string(rank()) +
                                       " was not done in time");
  }

  /// Longest time that one wait may last from now on.
  virtual void setDeadline(double seconds) = 0;
  virtual double deadline() const = 0;

  /// Ends the run on all ranks: wakes every waiter with an error that names
  /// `reason`. Safe from any thread.
  virtual void abort(const std::string &reason, int exitCode) = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_COMMUNICATOR_H
