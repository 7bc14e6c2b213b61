//===- StagedGroup.h - the host's memory, through the GPU -----------------===//

#ifndef PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
#define PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H

#include "runtime/comm/nccl/NcclGroup.h"

namespace pcc::runtime {

/// A group whose calls take memory of the host and return when they are done:
/// what ranks say to each other beside a step.
class StagedGroup final : public Group {
public:
  StagedGroup(std::shared_ptr<NcclJob> job, std::vector<int> members,
              NcclLane lane)
      : job(job), group(std::move(job), std::move(members), lane) {}

  int size() const override { return group.size(); }
  int index() const override { return group.index(); }

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
  /// What was posted is done already.
  Status wait(std::span<const Ticket>, const ActionId &) override {
    return Status::success();
  }
  void advance() override {}

private:
  /// Room for so many bytes: on the GPU, and of the host where its copies wait
  /// for nothing. Neither is the caller's, who may leave after a deadline.
  Status reserve(size_t bytes);
  Status upload(const void *from, size_t offset, size_t bytes);
  Status download(void *to, size_t offset, size_t bytes);
  char *at(size_t offset) const {
    return static_cast<char *>(staging) + offset;
  }

  std::shared_ptr<NcclJob> job;
  NcclGroup group;
  void *staging = nullptr, *pinned = nullptr;
  size_t reserved = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_COMM_NCCL_STAGEDGROUP_H
