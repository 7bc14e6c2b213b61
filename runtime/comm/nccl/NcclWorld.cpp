//===- NcclWorld.cpp - world of ranks with a GPU each ---------------------===//

#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/comm/GroupList.h"
#include "runtime/comm/nccl/StagedGroup.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace pcc::runtime {

// Limits on the GPU thread blocks per NCCL communicator, so that one call of
// every communicator fits on the GPU. Otherwise two ranks could deadlock:
//
// - A call of rank 0 waits for rank 1, and occupies all blocks of GPU 0.
// - Rank 1 waits for another call of rank 0, which finds no free block.
//
// All limits are powers of two, because NCCL rounds other numbers up.

/// Number of GPU thread blocks for the NCCL calls of all edges of one rank. An
/// edge carries pipeline messages from one rank to another.
static constexpr int blocksOfAllWays = 32;

/// Divides `blocks` GPU thread blocks among `count` communicators. Returns the
/// number of blocks for each: a power of two from 1 to `most`.
static int share(int blocks, int count, int most) {
  const int each = std::clamp(blocks / std::max(count, 1), 1, most);
  return int(std::bit_floor(unsigned(each)));
}

/// Returns the number of GPU thread blocks for a message on one edge (pair of
/// sender and receiver). The rank with the most edges determines it. If that
/// rank has 6 edges and 32 blocks, each edge gets 5, rounded down to 4.
static int blocksOfEdge(std::span<const World::PeerEdge> edges) {
  std::map<int, int> waysOfPosition;
  int most = 1;
  for (const World::PeerEdge &edge : edges)
    for (const int position : {edge.from, edge.to})
      most = std::max(most, ++waysOfPosition[position]);
  return share(blocksOfAllWays, most, /*most=*/8);
}

/// Returns the number of GPU thread blocks for a call of a group. It depends on
/// the rank that is in the most groups. If 3 groups share 86 blocks, each gets
/// 28, rounded down to 16.
static int blocksOfGroup(const std::vector<std::vector<int>> &groups,
                         int multiprocessors) {
  std::map<int, int> groupsOfRank;
  int most = 1;
  for (const std::vector<int> &group : groups)
    for (const int rank : group)
      most = std::max(most, ++groupsOfRank[rank]);
  return share(multiprocessors * 9 / 10 - blocksOfAllWays, most, /*most=*/32);
}

namespace {
/// The World (communicator) of one rank. ncclCommSplit creates its groups from
/// the communicator of all ranks.
class NcclWorld final : public World {
public:
  explicit NcclWorld(std::shared_ptr<NcclJob> openedJob)
      : job(std::move(openedJob)) {
    std::vector<int> ranks(static_cast<size_t>(job->size));
    std::iota(ranks.begin(), ranks.end(), 0);
    everybody =
        std::make_unique<StagedGroup>(job, std::move(ranks), job->everybody());
  }

  int rank() const override { return job->rank; }
  int size() const override { return job->size; }
  Group &all() override { return *everybody; }
  FlightRecorder &recorder() override { return *job->recorder; }
  void setDeadline(double seconds) override {
    job->deadlineSeconds = std::min(seconds, kLongestDeadline);
    job->rendezvous->setDeadline(job->deadlineSeconds);
  }
  double deadline() const override { return job->deadlineSeconds; }
  QueuedWorld *queued() override { return job.get(); }
  void abort(const Status &reason) override { job->abort(reason); }

  Status createGroups(const std::vector<std::vector<int>> &groups,
                      std::vector<std::unique_ptr<Group>> &created) override {
    created.clear();
    const int blocks = blocksOfGroup(groups, job->gpu.multiprocessors());
    for (size_t first = 0; first < groups.size();) {
      const size_t end = endOfDisjoint(groups, first);
      PCC_RETURN_IF_ERROR(join(groups, first, end, blocks, created));
      first = end;
    }
    return Status::success();
  }

  Status
  createExchanges(const std::vector<std::vector<int>> &groups,
                  std::span<const PeerEdge> edges,
                  std::vector<std::unique_ptr<Group>> &created) override {
    created.clear();
    std::vector<std::vector<EdgeLane>> lanes(groups.size());
    const int blocks = blocksOfEdge(edges);
    for (const PeerEdge &edge : edges)
      PCC_RETURN_IF_ERROR(joinEdge(groups, edge, blocks, lanes));
    for (size_t i = 0; i < groups.size(); ++i)
      created.push_back(indexAmong(groups[i], rank()) < 0
                            ? nullptr
                            : std::make_unique<NcclGroup>(
                                  job, groups[i], NcclLane(), lanes[i]));
    return Status::success();
  }

private:
  /// Returns the largest index `end` such that no rank is in two of the groups
  /// [first, end). One ncclCommSplit creates all of them.
  static size_t endOfDisjoint(const std::vector<std::vector<int>> &groups,
                              size_t first) {
    std::set<int> taken;
    size_t end = first;
    for (; end < groups.size(); ++end) {
      for (int member : groups[end])
        if (taken.contains(member))
          return end;
      taken.insert(groups[end].begin(), groups[end].end());
    }
    return end;
  }

  /// Creates the groups with indices [first, end) by one ncclCommSplit. No rank
  /// may be in two of them. A member of group i has color i - `first`.
  Status join(const std::vector<std::vector<int>> &groups, size_t first,
              size_t end, int blocks,
              std::vector<std::unique_ptr<Group>> &created) {
    int color = NcclJob::noColor, key = 0;
    for (size_t i = first; i < end; ++i) {
      PCC_RETURN_IF_ERROR(checkMembers(groups[i], size()));
      if (const int index = indexAmong(groups[i], rank()); index >= 0) {
        color = int(i - first);
        key = index;
      }
    }
    NcclLane lane;
    PCC_RETURN_IF_ERROR(job->split(color, key, blocks, lane));
    if (color != NcclJob::noColor)
      PCC_RETURN_IF_ERROR(job->connectAll(lane));
    for (size_t i = first; i < end; ++i)
      created.push_back(color == int(i - first)
                            ? std::make_unique<NcclGroup>(job, groups[i], lane)
                            : nullptr);
    return Status::success();
  }

  /// Creates one lane (communicator and stream) per group for the connection
  /// `edge`, whose two ends are indices in a group. One ncclCommSplit creates
  /// all lanes. If this rank is an end in group i, appends its lane to
  /// `lanes[i]`. No rank may be in two groups.
  Status joinEdge(const std::vector<std::vector<int>> &groups,
                  const PeerEdge &edge, int blocks,
                  std::vector<std::vector<EdgeLane>> &lanes) {
    int color = NcclJob::noColor, key = 0;
    for (size_t i = 0; i < groups.size(); ++i)
      if (const int index = indexAmong(groups[i], rank());
          index >= 0 && (index == edge.from || index == edge.to)) {
        color = int(i);
        key = index == edge.from ? 0 : 1;
      }
    NcclLane lane;
    PCC_RETURN_IF_ERROR(job->split(color, key, blocks, lane));
    if (color == NcclJob::noColor)
      return Status::success();
    lanes[size_t(color)].push_back({edge, lane});
    return job->connectEdge(lane, key);
  }

  const std::shared_ptr<NcclJob> job;
  std::unique_ptr<Group> everybody;
};
} // namespace

Status openNcclWorld(int rank, int size, CudaContext &gpu,
                     std::shared_ptr<Rendezvous> rendezvous,
                     std::shared_ptr<FlightRecorder> recorder, double seconds,
                     std::unique_ptr<World> &world) {
  auto job = std::make_shared<NcclJob>(gpu, rank, size, std::move(rendezvous),
                                       std::move(recorder));
  job->deadlineSeconds = seconds;
  PCC_RETURN_IF_ERROR(job->open());
  world = std::make_unique<NcclWorld>(std::move(job));
  return Status::success();
}

} // namespace pcc::runtime
