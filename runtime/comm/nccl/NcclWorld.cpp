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

// The functions below limit the number of GPU thread blocks for each NCCL
// communicator. With these limits, one call of every communicator of a rank
// fits on the rank's GPU at the same time. Without the limits, two ranks could
// deadlock. For example, ranks 0 and 1 both use communicators A and B:
//
// - GPU 0 executes a call of A, which occupies the whole GPU. The call waits
//   until GPU 1 executes its call of A.
// - GPU 1 executes a call of B, which occupies the whole GPU. The call waits
//   until GPU 0 executes its call of B.
//
// All limits are powers of two, because NCCL rounds other numbers up.

/// Number of GPU thread blocks for the NCCL calls of all edges of one rank. An
/// edge carries pipeline messages from one rank to another.
static constexpr int blocksOfAllWays = 32;

/// Returns the number of GPU thread blocks for each of `count` communicators
/// that share `blocks` blocks. This is `blocks` / `count`, but at least 1 and
/// at most `most`, rounded down to a power of two. For example, share(86, 3,
/// 32) computes 86 / 3 = 28, and returns 16.
static int share(int blocks, int count, int most) {
  const int each = std::clamp(blocks / std::max(count, 1), 1, most);
  return int(std::bit_floor(unsigned(each)));
}

/// Returns the largest number of GPU thread blocks for one message on an edge.
/// An edge is a pair of a sender and a receiver. `edges` lists all edges.
///
/// A rank can be in several edges, whose messages may run on the rank's GPU at
/// the same time. All messages of a rank share 32 blocks (blocksOfAllWays). The
/// rank that is in the most edges needs the smallest shares. Every edge gets a
/// share of that size, rounded down to a power of two and at most 8. For
/// example, the rank that is in the most edges is in 6 edges. Its messages get
/// 32 / 6 blocks each, rounded down to 4. A message on any other edge also gets
/// 4 blocks.
static int blocksOfEdge(std::span<const World::PeerEdge> edges) {
  std::map<int, int> waysOfPosition;
  int most = 1;
  for (const World::PeerEdge &edge : edges)
    for (const int position : {edge.from, edge.to})
      most = std::max(most, ++waysOfPosition[position]);
  return share(blocksOfAllWays, most, /*most=*/8);
}

/// Returns the largest number of GPU thread blocks for one NCCL call of a
/// group. `groups` lists the world ranks of each group. The calls of a rank's
/// groups may run at the same time. They share 90 % of the GPU's
/// multiprocessors, minus 32 blocks for pipeline messages (blocksOfAllWays).
/// The rank that is in the most groups defines the share of every call. The
/// share is rounded down to a power of two, and is at most 32. For example, 132
/// multiprocessors and 3 groups give (118 - 32) / 3 = 28, which is rounded down
/// to 16.
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
/// World object of one rank, which creates groups of ranks that communicate by
/// NCCL. One NCCL communicator contains all ranks. ncclCommSplit creates the
/// communicators of smaller groups of ranks from this communicator.
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
  /// Finds the groups, from index `first` on, that one call of ncclCommSplit
  /// can create. A rank can join only one group in each call of ncclCommSplit.
  /// `groups` lists the world ranks of each group. Returns the largest index
  /// `end` such that every rank is in at most one of the groups `first` to
  /// `end` - 1.
  ///
  /// For example, `groups` is {0, 1}, {2, 3}, {0, 2}, and `first` is 0. The
  /// result is 2, because rank 0 is in group 0 and in group 2. One call can
  /// thus create groups 0 and 1.
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

  /// Creates the groups `first` to `end` - 1 of `groups` by one call of
  /// ncclCommSplit. `groups[i]` lists the world ranks of group i. A rank may be
  /// in at most one of the created groups. All ranks must call join() with
  /// equal `groups`, `first` and `end`. `blocks` is the largest number of GPU
  /// thread blocks for one NCCL call of a group. Appends this rank's object for
  /// each created group to `created`, or null if this rank is not a member.
  ///
  /// ncclCommSplit makes one communicator of all ranks that pass the same
  /// color. A rank in no created group passes noColor.
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

  /// Creates a lane (NCCL communicator with a CUDA stream) for the messages of
  /// `edge` in each group, by one call of ncclCommSplit. A lane contains only
  /// the sender and the receiver. For example, the groups {0, 1, 2} and {3, 4,
  /// 5} and the edge from index 0 to index 1 give lanes of ranks 0 and 1 and of
  /// ranks 3 and 4. All ranks must call joinEdge(), and a rank may be in at
  /// most one group. `blocks` is the largest number of GPU thread blocks for a
  /// message. If this rank sends or receives in group i, appends `edge` with
  /// its lane to `lanes[i]`.
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
