//===- CudaTarget.cpp - ranks on GPUs -------------------------------------===//

#include "runtime/comm/thread/ThreadWorld.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/launch/RankTarget.h"

namespace pcc::runtime {

Status openTarget(const RunOptions &, const Identity &identity,
                  const std::shared_ptr<FlightRecorder> &recorder,
                  std::unique_ptr<World> &world,
                  std::unique_ptr<Device> &device) {
  world = createOnlyWorld(recorder);
  return createCudaDevice(identity.localRank, device);
}

} // namespace pcc::runtime
