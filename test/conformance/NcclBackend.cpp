//===- NcclBackend.cpp - the suites on ranks with a GPU each --------------===//
//
// Starts as many processes as the suites have ranks; each runs all cases. The
// GPUs are those of PCC_CUDA_LIBRARIES, which may be fake (test/runtime/fake).
// The suites pass host memory; the groups copy it to the GPU. A case of
// CommunicatorFailure is started alone, as by MpiBackend. Only the flight
// recorders of all ranks together know which rank is missing.
//
//===----------------------------------------------------------------------===//

#include "test/conformance/Backend.h"

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/engine/collective/QueueWait.h"
#include "runtime/launch/rendezvous/SocketRendezvous.h"
#include "runtime/launch/spawn/LocalLauncher.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <unistd.h>

namespace pcc::runtime {

namespace {
/// The GPU of a rank, with memory that no other code uses.
class Gpu {
public:
  Gpu(Device &device, World &world) : device(device), world(world) {}

  char *take(size_t bytes) {
    const auto found = unused.lower_bound(bytes);
    if (found != unused.end() && found->first <= 2 * bytes + 64) {
      char *data = found->second;
      sizes[data] = found->first;
      unused.erase(found);
      return data;
    }
    char *data = nullptr;
    EXPECT_TRUE(device.allocate(int64_t(bytes) + 64, data).ok());
    sizes[data] = bytes + 64;
    return data;
  }
  void giveBack(char *data) { unused.emplace(sizes[data], data); }
  Status finish() { return waitForQueue(device, world); }

  Device &device;

private:
  World &world;
  std::multimap<size_t, char *> unused; ///< by size
  std::map<char *, size_t> sizes;
};

/// A group that works on GPU memory, for callers with host memory.
class CopyingGroup final : public Group {
public:
  CopyingGroup(std::unique_ptr<Group> group, Gpu &gpu)
      : group(std::move(group)), gpu(gpu) {}

  int size() const override { return group->size(); }
  int index() const override { return group->index(); }
  void advance() override { group->advance(); }

  Status allReduce(const void *in, void *out, size_t count, ElementType type,
                   dist::ReductionKind kind, const ActionId &action) override {
    const size_t bytes = count * sizeOf(type);
    return copied(in, bytes, out, bytes, [&](char *from, char *to) {
      return group->allReduce(from, to, count, type, kind, action);
    });
  }
  Status allGather(const void *in, void *out, size_t bytes,
                   const ActionId &action) override {
    return copied(in, bytes, out, bytes * size_t(size()),
                  [&](char *from, char *to) {
                    return group->allGather(from, to, bytes, action);
                  });
  }
  Status broadcast(void *data, size_t bytes, int root,
                   const ActionId &action) override {
    return copied(data, bytes, data, bytes, [&](char *from, char *to) {
      PCC_RETURN_IF_ERROR(gpu.device.upload(to, data, bytes));
      return group->broadcast(to, bytes, root, action);
    });
  }
  Status barrier(const ActionId &action) override {
    Status status = group->barrier(action);
    return status.failed() ? status : gpu.finish();
  }

  Status post(std::span<const PeerBuffer> sends,
              std::span<const PeerBuffer> receives, const ActionId &action,
              Ticket &ticket) override {
    Posted &posted = travelling[ticket = next++];
    std::vector<PeerBuffer> there[2];
    for (const PeerBuffer &piece : sends) {
      char *data = posted.add(gpu.take(piece.size));
      PCC_RETURN_IF_ERROR(gpu.device.upload(data, piece.data, piece.size));
      there[0].push_back({piece.peer, data, piece.size});
    }
    for (const PeerBuffer &piece : receives) {
      char *data = posted.add(gpu.take(piece.size));
      posted.arriving.push_back({piece.data, data, piece.size});
      there[1].push_back({piece.peer, data, piece.size});
    }
    return group->post(there[0], there[1], action, posted.ticket);
  }

  Status wait(std::span<const Ticket> tickets,
              const ActionId &action) override {
    for (const Ticket ticket : tickets) {
      const auto found = travelling.find(ticket);
      Status status = group->wait({&found->second.ticket, 1}, action);
      if (status.ok())
        status = gpu.finish();
      for (const Arriving &piece : found->second.arriving)
        if (status.ok())
          status = gpu.device.download(piece.host, piece.there, piece.bytes);
      if (status.failed())
        return status;
      for (char *data : found->second.memory)
        gpu.giveBack(data);
      travelling.erase(found);
    }
    return Status::success();
  }

private:
  struct Arriving {
    void *host;
    char *there;
    size_t bytes;
  };
  struct Posted {
    Ticket ticket = 0;
    std::vector<char *> memory;
    std::vector<Arriving> arriving;
    char *add(char *data) { return memory.emplace_back(data); }
  };

  template <typename Call>
  Status copied(const void *in, size_t inBytes, void *out, size_t outBytes,
                Call call) {
    char *const from = gpu.take(inBytes), *const to = gpu.take(outBytes);
    Status status = gpu.device.upload(from, in, inBytes);
    if (status.ok())
      status = call(from, to);
    if (status.ok())
      status = gpu.finish();
    if (status.ok())
      status = gpu.device.download(out, to, outBytes);
    gpu.giveBack(from);
    gpu.giveBack(to);
    return status;
  }

  const std::unique_ptr<Group> group;
  Gpu &gpu;
  std::map<Ticket, Posted> travelling;
  Ticket next = 0;
};

/// A world whose groups are CopyingGroups.
class CopyingWorld final : public World {
public:
  CopyingWorld(std::unique_ptr<World> world, Device &device)
      : world(std::move(world)), gpu(device, *this->world) {}

  int rank() const override { return world->rank(); }
  int size() const override { return world->size(); }
  Group &all() override { return world->all(); }
  FlightRecorder &recorder() override { return world->recorder(); }
  void setDeadline(double seconds) override { world->setDeadline(seconds); }
  double deadline() const override { return world->deadline(); }
  QueuedWorld *queued() override { return world->queued(); }
  void abort(const Status &reason) override { world->abort(reason); }
  Status createGroups(const std::vector<std::vector<int>> &groups,
                      std::vector<std::unique_ptr<Group>> &created) override {
    return copying(world->createGroups(groups, created), created);
  }
  Status
  createExchanges(const std::vector<std::vector<int>> &groups,
                  std::span<const PeerEdge> edges,
                  std::vector<std::unique_ptr<Group>> &created) override {
    return copying(world->createExchanges(groups, edges, created), created);
  }

private:
  Status copying(Status status, std::vector<std::unique_ptr<Group>> &created) {
    for (auto &group : created)
      if (group)
        group = std::make_unique<CopyingGroup>(std::move(group), gpu);
    return status;
  }

  const std::unique_ptr<World> world;
  Gpu gpu;
};

class NcclBackend final : public Backend {
public:
  void run(const std::function<void(World &)> &body) override { body(*world); }
  /// Returns whether NCCL has the type.
  bool reduces(ElementType type) const override {
    return type != ElementType::I16 && type != ElementType::U16;
  }

  Status open(int rank) {
    JoinTerms terms;
    PCC_RETURN_IF_ERROR(
        readAddress(std::getenv(kRendezvousVariable), terms.address));
    PCC_RETURN_IF_ERROR(
        findToken(currentEnvironment(), terms.address, terms.token));
    terms.self = RankFacts::of(rank, kRanks, "conformance");
    constexpr double seconds = 60;
    const auto giveUp = [](const Status &why, std::optional<int>) {
      std::fprintf(stderr, "%s\n", why.message().c_str());
      _exit(why.code());
    };
    PCC_RETURN_IF_ERROR(
        SocketRendezvous::join(terms, seconds, giveUp, rendezvous));
    CudaContext *gpu = nullptr;
    PCC_RETURN_IF_ERROR(createCudaDevice(rank, "", device, gpu));
    std::unique_ptr<World> opened;
    Status status =
        openNcclWorld(rank, kRanks, *gpu, rendezvous,
                      std::make_shared<FlightRecorder>(rank), seconds, opened);
    if (status.ok())
      world = std::make_unique<CopyingWorld>(std::move(opened), *device);
    return status;
  }

  std::shared_ptr<SocketRendezvous> rendezvous;
  std::unique_ptr<Device> device;
  std::unique_ptr<World> world;
};
} // namespace

static NcclBackend backend;

INSTANTIATE_TEST_SUITE_P(Nccl, Communicator, testing::Values(&backend));
INSTANTIATE_TEST_SUITE_P(Nccl, CommunicatorFailure, testing::Values(&backend));

} // namespace pcc::runtime

int main(int argc, char **argv) {
  using namespace pcc;
  using namespace pcc::runtime;
  if (const int code = launchRanks(kRanks); code >= 0)
    return code;
  testing::InitGoogleTest(&argc, argv);
  if (Status status = backend.open(std::stoi(std::getenv("PCC_RANK")));
      status.failed()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    _exit(status.code());
  }
  const int failures = RUN_ALL_TESTS();
  std::fflush(stdout);
  // Ask whether the run has ended: no rank answers any more then.
  if (backend.world->all().barrier({"end", ""}).failed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    _exit(failures ? 1 : PeerLost);
  }
  const bool hasLeft = backend.rendezvous->leave().ok();
  _exit(failures || !hasLeft);
}
