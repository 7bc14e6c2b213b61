//===- CudaTarget.cpp - ranks on GPUs, between them NCCL ------------------===//

#include "runtime/comm/flight/FlightRecorder.h"
#include "runtime/comm/nccl/NcclWorld.h"
#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/launch/FileRendezvous.h"
#include "runtime/launch/GpuEnvironment.h"
#include "runtime/launch/RankTarget.h"

namespace pcc::runtime {

Status openTarget(const RunOptions &options, const Identity &identity,
                  const std::string &folder,
                  const std::shared_ptr<FlightRecorder> &recorder,
                  std::unique_ptr<World> &world,
                  std::unique_ptr<Device> &device) {
  setGpuEnvironment(identity.rank, options.shareGpu);
  CudaContext *gpu = nullptr;
  if (Status status =
          createCudaDevice(identity.localRank, options.shareGpu, device, gpu);
      status.failed())
    return status;
  if (identity.worldSize == 1) {
    world = createOnlyWorld(recorder);
    return Status::success();
  }
  if (folder.empty())
    return Status::error(WrongWorld,
                         "ranks on GPUs only meet under pcc run in this build");
  FileRendezvous rendezvous(folder, identity.rank);
  const auto starting = recorder->beginAction("start");
  Status status =
      openNcclWorld(identity.rank, identity.worldSize, *gpu, rendezvous,
                    recorder, options.loadTimeout, world);
  recorder->end(starting);
  return status;
}

} // namespace pcc::runtime
