//===- StagedGroup.h - NCCL group for host memory, staged on the GPU ------===//

#ifndef PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
#define PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H

#include "runtime/comm/nccl/NcclGroup.h"

namespace pcc::runtime {

/// A group (fixed set of ranks) that communicates host memory by NCCL. Every
/// call copies its data to the GPU, runs the NCCL call, copies the result back
/// to host memory, and blocks until all of this is complete. Used for data
/// outside of steps, such as checkpoints and agreements between ranks.
class StagedGroup final : public Group {
public:
  /// Creates the group of the world ranks `members` on one lane (NCCL
  /// communicator and CUDA stream). `members` must be in the order of the
  /// lane's communicator.
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
  /// Sends all messages `sends`, receives all messages `receives`, and blocks
  /// until all are complete. In other groups post() does not block. In this
  /// group it does, so all peers must call post() at the same time.
  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override;
  /// Returns success at once, because post() has already completed all
  /// messages.
  Status wait(std::span<const Ticket>, const ActionId &) override {
    return Status::success();
  }
  void advance() override {}

private:
  /// Makes both staging buffers at least `bytes` bytes large: one on the GPU,
  /// one in pinned host memory. All transfers use these buffers. After a missed
  /// deadline, a caller can therefore free its own memory although a transfer
  /// may still run.
  Status reserve(size_t bytes);
  /// Copies `bytes` bytes from `from` to the staging buffer in pinned host
  /// memory, and enqueues the copy from there to the staging buffer on the GPU.
  /// `offset` is the byte offset in both staging buffers.
  Status upload(const void *from, size_t offset, size_t bytes);
  /// Copies `bytes` bytes from the staging buffer on the GPU, through the
  /// staging buffer in pinned host memory, to `to`, and blocks until the copy
  /// is complete. `offset` is the byte offset in both staging buffers.
  Status download(void *to, size_t offset, size_t bytes);
  /// Returns the address of byte `offset` of the staging buffer on the GPU.
  char *at(size_t offset) const {
    return static_cast<char *>(staging) + offset;
  }

  std::shared_ptr<NcclJob> job;
  NcclGroup group;
  /// `staging`: buffer on the GPU. `pinned`: buffer in pinned host memory. The
  /// GPU's context owns both.
  void *staging = nullptr, *pinned = nullptr;
  size_t reserved = 0; ///< bytes of each buffer
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
