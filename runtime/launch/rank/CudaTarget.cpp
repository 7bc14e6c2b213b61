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

/// Sets `name` to a text that identifies the bundle of this rank. Rank 0
/// compares the texts of all ranks, because ranks of different bundles must not
/// run together. `image` is the program of this rank. An example of a text:
///
///   of build pcc-9C41D07B25E8F316 with plan 5f2089ab41c6d703
///
/// - 9C41D07B25E8F316 is a hash of pcc's runtime, in hexadecimal.
/// - 5f2089ab41c6d703 is a hash of the runtime, and of the programs and the
///   kernels of all ranks.
///
/// An error message contains the text after the words "has the bundle".
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

/// Connects the ranks by sockets: rank 0 listens, and all other ranks connect
/// to rank 0. Stores the connections of this rank in `rendezvous`. Blocks until
/// all ranks are connected, at most for about `start.options.loadTimeout`
/// seconds. `start` contains the arguments with which this rank was started.
///
/// A rank calls meet() before the rank opens its GPU. If the rank then finds no
/// GPU, the rank can send this error to the other ranks through `rendezvous`.
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

/// Checks that all ranks can run together. Each rank sends these facts to rank
/// 0 through `rendezvous`: which GPU the rank uses, its version of NCCL, and
/// its version of the CUDA driver. `rendezvous` manages the connections between
/// the ranks. `gpu` is the GPU of this rank. `start` contains the arguments
/// with which this rank was started.
///
/// Rank 0 waits for the facts of all ranks. On rank 0, the function returns an
/// error if two ranks have different versions of NCCL. On rank 0, the function
/// also returns an error if two ranks use the same GPU, unless
/// `start.options.shareGpu` is true. The caller on rank 0 then sends this error
/// to the other ranks. On the other ranks, the function does not wait.
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

/// Opens the GPU of this rank, and stores it in `place.device`. Then sets
/// `place.world` to a World, the object by which this rank communicates with
/// the other ranks. `start` contains the arguments with which this rank was
/// started.
///
/// If there are several ranks, they communicate by NCCL, and the function
/// blocks until all ranks have called it. `place.rendezvous` manages the
/// connections between the ranks. meet() must have set `place.rendezvous`
/// before.
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
  const auto starting = start.recorder->beginAction(kStartAction);
  Status status = start.identity.worldSize > 1 ? meet(start, place.rendezvous)
                                               : Status::success();
  if (status.ok())
    status = openWorld(start, place);
  start.recorder->end(starting);
  return status;
}

} // namespace pcc::runtime
