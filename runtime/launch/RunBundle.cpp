//===- RunBundle.cpp - what `pcc run` does --------------------------------===//

#include "runtime/launch/RunBundle.h"

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/engine/Engine.h"
#include "runtime/launch/Bundle.h"
#include "runtime/launch/RankImage.h"
#include "runtime/launch/RunThreads.h"
#include "runtime/launch/Spawn.h"

namespace pcc::runtime {

static Status runInThisProcess(const std::string &bundle, RunOptions options) {
  const int worldSize = countRanks(bundle);
  if (worldSize == 0)
    return Status::error(DamagedBundle,
                         bundle + " is not a bundle: it has no rank-000");
  options.bundle = bundle;
  options.localRanks = worldSize;
  std::vector<const ProgramImage *> images;
  if (Status status = loadImages(bundle, worldSize, images); status.failed())
    return status;
  return runThreads(worldSize, [&](World &world) {
    const auto device = createCpuDevice(threadsPerRank(options, worldSize));
    return runRank(*images[world.rank()], options, world, *device);
  });
}

Status runBundle(const std::string &bundle, const RunOptions &options,
                 const std::vector<std::string> &arguments) {
  if (options.comm == "nccl")
    return Status::error(NoDevice, "this build of pcc has no NCCL",
                         {"use --comm mpi or --comm thread"});
  if (options.comm == "thread")
    return runInThisProcess(bundle, options);
  return spawnMpi({.bundle = bundle,
                   .arguments = arguments,
                   .onProgress = options.onProgress});
}

} // namespace pcc::runtime
