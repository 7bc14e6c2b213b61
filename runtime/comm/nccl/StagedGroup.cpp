//===- StagedGroup.cpp - NCCL group for host memory, staged on the GPU ----===//

#include "runtime/comm/nccl/StagedGroup.h"

#include <algorithm>
#include <cstring>

namespace pcc::runtime {

/// Alignment of each message in the staging buffers, in bytes.
static constexpr size_t kAligned = 16;

/// Returns the number `bytes` rounded up to a multiple of 16 (kAligned). For
/// example, aligned(20) returns 32. A staging buffer can contain several
/// messages, one after another. Each message occupies a rounded number of
/// bytes, so that each message begins at a multiple of 16 bytes.
static size_t aligned(size_t bytes) {
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

Status StagedGroup::reserve(size_t bytes) {
  if (bytes <= reserved)
    return Status::success();
  // Allocate new, larger buffers. The old buffers stay allocated until the
  // CudaContext `job->gpu` is destroyed. To bound this waste, a new buffer has
  // at least twice the size of the previous buffer. All old buffers together
  // are then smaller than the new buffer. For example, the old buffers have 1,
  // 2 and 4 MiB (together 7 MiB), and the new buffer has 8 MiB.
  reserved = std::max(bytes, 2 * reserved);
  PCC_RETURN_IF_ERROR(job->gpu.allocatePinned(reserved, pinned));
  return job->gpu.allocate(reserved, staging);
}

Status StagedGroup::upload(const void *from, size_t offset, size_t bytes) {
  if (bytes == 0)
    return Status::success();
  char *const host = static_cast<char *>(pinned) + offset;
  std::memcpy(host, from, bytes);
  return job->gpu.check(
      job->gpu.driver().cuMemcpyHtoDAsync(addressOf(at(offset)), host, bytes,
                                          job->gpu.stream()),
      "cuMemcpyHtoDAsync");
}

Status StagedGroup::download(void *to, size_t offset, size_t bytes) {
  char *const host = static_cast<char *>(pinned) + offset;
  if (bytes > 0)
    PCC_RETURN_IF_ERROR(job->gpu.check(
        job->gpu.driver().cuMemcpyDtoHAsync(host, addressOf(at(offset)), bytes,
                                            job->gpu.stream()),
        "cuMemcpyDtoHAsync"));
  PCC_RETURN_IF_ERROR(job->waitForAll());
  if (bytes > 0)
    std::memcpy(to, host, bytes);
  return Status::success();
}

Status StagedGroup::allReduce(const void *in, void *out, size_t count,
                              ElementType type, dist::ReductionKind kind,
                              const ActionId &action) {
  const size_t bytes = count * sizeOf(type);
  PCC_RETURN_IF_ERROR(reserve(bytes));
  PCC_RETURN_IF_ERROR(upload(in, 0, bytes));
  PCC_RETURN_IF_ERROR(group.allReduce(at(0), at(0), count, type, kind, action));
  return download(out, 0, bytes);
}

// Layout of the staging buffer on the GPU: the input of this rank, followed by
// the gathered inputs of all members.
Status StagedGroup::allGather(const void *in, void *out, size_t bytes,
                              const ActionId &action) {
  const size_t all = bytes * size_t(size());
  PCC_RETURN_IF_ERROR(reserve(aligned(bytes) + all));
  PCC_RETURN_IF_ERROR(upload(in, 0, bytes));
  PCC_RETURN_IF_ERROR(
      group.allGather(at(0), at(aligned(bytes)), bytes, action));
  return download(out, aligned(bytes), all);
}

Status StagedGroup::broadcast(void *data, size_t bytes, int root,
                              const ActionId &action) {
  PCC_RETURN_IF_ERROR(reserve(bytes));
  PCC_RETURN_IF_ERROR(upload(data, 0, bytes));
  PCC_RETURN_IF_ERROR(group.broadcast(at(0), bytes, root, action));
  return download(data, 0, bytes);
}

Status StagedGroup::barrier(const ActionId &action) {
  Status status = group.barrier(action);
  return status.failed() ? status : job->waitForAll();
}

/// Layout of the staging buffer on the GPU: all messages to send, followed by
/// all messages to receive.
Status StagedGroup::post(std::span<const PeerBuffer> sends,
                         std::span<const PeerBuffer> receives,
                         const ActionId &action, Ticket &ticket) {
  std::vector<PeerBuffer> staged[2];
  std::vector<size_t> offsets[2];
  size_t total = 0;
  const std::span<const PeerBuffer> given[2] = {sends, receives};
  for (int side = 0; side < 2; ++side)
    for (const PeerBuffer &piece : given[side]) {
      offsets[side].push_back(total);
      total += aligned(piece.size);
    }
  PCC_RETURN_IF_ERROR(reserve(total));
  for (int side = 0; side < 2; ++side)
    for (size_t i = 0; i < given[side].size(); ++i)
      staged[side].push_back(
          {given[side][i].peer, at(offsets[side][i]), given[side][i].size});
  for (size_t i = 0; i < sends.size(); ++i)
    PCC_RETURN_IF_ERROR(upload(sends[i].data, offsets[0][i], sends[i].size));
  Ticket travelling = 0;
  PCC_RETURN_IF_ERROR(group.post(staged[0], staged[1], action, travelling));
  PCC_RETURN_IF_ERROR(group.wait({&travelling, 1}, action));
  for (size_t i = 0; i < receives.size(); ++i)
    PCC_RETURN_IF_ERROR(
        download(receives[i].data, offsets[1][i], receives[i].size));
  ticket = 0;
  return job->waitForAll();
}

} // namespace pcc::runtime
