//===- StagedGroup.h - NCCL group for host memory, staged on the GPU ------===//

#ifndef PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
#define PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H

#include "runtime/comm/nccl/NcclGroup.h"

namespace pcc::runtime {

/// A group (fixed set of ranks) that communicates host memory by NCCL. Every
/// call copies its data to the GPU and the result back, and blocks. Used
/// outside of steps, for example for checkpoints.
class StagedGroup final : public Group {
public:
  /// Creates the group of the world ranks `members` on one lane (NCCL
  /// communicator and CUDA stream), in the rank order of the lane.
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
  /// Sends and receives all messages, and blocks until they are complete. (In
  /// other groups, post() returns at once.) All peers must call post() at the
  /// same time.
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
  /// Copies `bytes` bytes from `from` to a pinned buffer in host memory.
  /// Enqueues a second copy, from the pinned buffer to the staging buffer on
  /// the GPU. Both copies begin at byte `offset` of their buffer.
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
  /// Staging buffers: on the GPU (`staging`) and in pinned host memory
  /// (`pinned`). Owned by the GPU's context.
  void *staging = nullptr, *pinned = nullptr;
  size_t reserved = 0; ///< bytes of each buffer
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
