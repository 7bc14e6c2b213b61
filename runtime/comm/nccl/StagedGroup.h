//===- StagedGroup.h - NCCL group for host memory, staged on the GPU ------===//

#ifndef PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
#define PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H

#include "runtime/comm/nccl/NcclGroup.h"

namespace pcc::runtime {

/// A group whose buffers are in host memory. A group is a fixed, ordered set of
/// ranks that communicate. The ranks communicate by NCCL calls on GPU memory.
/// An operation, such as allReduce(), therefore has three steps:
///
/// 1. Copy the data from host memory to the GPU.
/// 2. Make the NCCL call.
/// 3. Copy the result from the GPU to host memory.
///
/// Each operation blocks the host until the last step is complete. The function
/// World::all() returns such a group if the ranks are connected by NCCL. The
/// runtime uses the group, for example, to broadcast the loss of a training
/// step to all ranks.
class StagedGroup final : public Group {
public:
  /// Creates this rank's object for a group of ranks. The parameters:
  ///
  /// - `job`: this rank's GPU, NCCL library and NCCL communicators.
  /// - `members`: world ranks of the group. A world rank is the number of a
  ///   rank among all ranks of the run.
  /// - `lane`: NCCL communicator and CUDA stream for the group's NCCL calls.
  ///   The communicator contains exactly the ranks `members`, in the order of
  ///   the list. For example, rank 0 of the communicator is the world rank
  ///   `members[0]`.
  StagedGroup(std::shared_ptr<NcclJob> job, std::vector<int> members,
              NcclLane lane)
      : job(job), group(std::move(job), std::move(members), lane) {}

  int size() const override { return group.size(); }
  int index() const override { return group.index(); }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   dist::ReductionKind kind, const ActionId &action) override;
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override;
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override;
  Status barrier(const ActionId &action) override;
  /// Sends the messages `sends` and receives the messages `receives`. Blocks
  /// until all these messages are complete. The other rank of each message must
  /// therefore also call post() for the message.
  ///
  /// For example, ranks 0 and 1 each send one message to the other. Each rank
  /// must pass both messages, one in `sends` and one in `receives`, to the same
  /// call of post(). If both ranks first called post() only to send, each rank
  /// could wait forever for the other to receive.
  ///
  /// Sets `ticket` to 0, because a later wait() has nothing to wait for.
  /// `action` names the work for which this rank communicates, for error
  /// messages.
  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override;
  /// Returns success at once, because post() has completed all messages.
  Status wait(std::span<const Ticket>, const ActionId &) override {
    return Status::success();
  }
  void advance() override {}

private:
  /// Makes both staging buffers (on the GPU and in pinned host memory) at least
  /// `bytes` bytes large.
  Status reserve(size_t bytes);
  /// Copies `bytes` bytes from the host address `from` to the staging buffer on
  /// the GPU. There are two copies:
  ///
  /// 1. From the address `from` to byte `offset` of the buffer `pinned`, which
  ///    is in pinned host memory. This copy is complete when the function
  ///    returns.
  /// 2. From byte `offset` of `pinned` to byte `offset` of the buffer
  ///    `staging`, which is on the GPU. The function only enqueues this copy.
  Status upload(const void *from, size_t offset, size_t bytes);
  /// Copies `bytes` bytes at byte `offset` of the GPU's staging buffer to `to`,
  /// through pinned memory. Blocks until the copy is complete.
  Status download(void *to, size_t offset, size_t bytes);
  /// Returns the address of byte `offset` of the staging buffer on the GPU.
  char *at(size_t offset) const {
    return static_cast<char *>(staging) + offset;
  }

  std::shared_ptr<NcclJob> job;
  NcclGroup group;
  /// Two buffers of equal size: `staging` is in GPU memory, and `pinned` is in
  /// pinned host memory. To pass data to an NCCL call, upload() copies the data
  /// of the caller to `pinned`, and from there to `staging`. download() copies
  /// the result in the opposite direction. The GPU's context frees the buffers.
  /// Both pointers are null until an operation needs the buffers.
  void *staging = nullptr, *pinned = nullptr;
  size_t reserved = 0; ///< bytes of each buffer
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
