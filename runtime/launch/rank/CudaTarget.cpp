//===- CudaTarget.cpp - GPU ranks, connected by NCCL ----------------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cuda/CudaContext.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/launch/rank/GpuEnvironment.h"
#include "runtime/launch/rank/RankTarget.h"
#include "runtime/launch/rendezvous/SocketRendezvous.h"
#include "runtime/program/Program.h"

namespace pcc::runtime {

/// Sets `name` to a text that identifies the bundle by its build of pcc and a
/// hash of the compiled model, such as "of build pcc-17a3 with plan 5f20…". All
/// ranks of the bundle get the same text.
static Status nameBundle(const ProgramImage &image, std::string &name) {
  OpenedProgram opened;
  PCC_RETURN_IF_ERROR(openProgram(
      {static_cast<const std::byte *>(image.program), image.programBytes},
      opened));
  char plan[32];
  std::snprintf(plan, sizeof plan, "%016llx",
                static_cast<unsigned long long>(opened.tables->plan_hash));
  name = "of build " + opened.tables->build_id + " with plan " + plan;
  return Status::success();
}

/// Connects this rank to rank 0. Called before the rank opens its GPU. If there
/// is no GPU, the rank can then send this error to all ranks.
static Status meet(const RankStart &start,
                   std::shared_ptr<Rendezvous> &rendezvous) {
  const RankIdentity &identity = start.identity;
  JoinTerms terms;
  PCC_RETURN_IF_ERROR(findAddress(start.environment, identity, terms.address));
  PCC_RETURN_IF_ERROR(findToken(start.environment, terms.address, terms.token));
  std::string bundle;
  PCC_RETURN_IF_ERROR(nameBundle(start.image, bundle));
  terms.self = RankFacts::of(identity.rank, identity.worldSize, bundle);
  std::shared_ptr<SocketRendezvous> joined;
  Status status = SocketRendezvous::join(terms, start.options.loadTimeout,
                                         start.giveUp, joined);
  rendezvous = std::move(joined);
  return status;
}

/// Gathers GPU and library versions on rank 0, which checks that all ranks can
/// run together. All ranks receive an error of rank 0 through the rendezvous
/// (connections between ranks).
static Status compareGpus(const RankStart &start, const CudaContext &gpu,
                          Rendezvous &rendezvous) {
  std::string nccl, bus;
  PCC_RETURN_IF_ERROR(findNccl(nccl));
  PCC_RETURN_IF_ERROR(gpu.findBus(bus));
  std::vector<std::string> told;
  PCC_RETURN_IF_ERROR(
      rendezvous.gather(GpuFacts::of(bus, nccl, gpu.driverVersion()).encode(),
                        start.options.loadTimeout, told));
  std::vector<GpuFacts> facts;
  for (const std::string &one : told)
    facts.push_back(GpuFacts::decode(one));
  return checkGpus(facts, start.options.shareGpu);
}

/// Opens the GPU. If there are several ranks, also creates the NCCL world.
static Status openWorld(const RankStart &start, RankBackend &place) {
  CudaContext *gpu = nullptr;
  PCC_RETURN_IF_ERROR(createCudaDevice(
      start.identity.localRank, start.options.bundle, place.device, gpu));
  if (start.identity.worldSize == 1) {
    place.world = createOnlyWorld(start.recorder);
    return Status::success();
  }
  PCC_RETURN_IF_ERROR(compareGpus(start, *gpu, *place.rendezvous));
  return openNcclWorld(start.identity.rank, start.identity.worldSize, *gpu,
                       place.rendezvous, start.recorder,
                       start.options.loadTimeout, place.world);
}

Status openTarget(const RankStart &start, RankBackend &place) {
  setGpuEnvironment(start.identity.rank, start.options.shareGpu);
  const auto starting = start.recorder->beginAction("start");
  Status status = start.identity.worldSize > 1 ? meet(start, place.rendezvous)
                                               : Status::success();
  if (status.ok())
    status = openWorld(start, place);
  start.recorder->end(starting);
  return status;
}

} // namespace pcc::runtime
