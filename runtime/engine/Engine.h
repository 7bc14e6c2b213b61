//===- Engine.h - one rank of a run ---------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_ENGINE_H
#define PCC_RUNTIME_ENGINE_ENGINE_H

#include "runtime/comm/Communicator.h"
#include "runtime/device/Device.h"
#include "runtime/engine/RunOptions.h"

namespace pcc::runtime {

/// Loads the program, reads its inputs, runs warm-up and timed steps, writes
/// the outputs and the report, and prints one summary line to stderr. Called by
/// every rank of the world, each with the image of its position and a device of
/// its own. Outputs appear only if all ranks succeed. A rank that fails ends
/// the run on all ranks (World::abort) and returns the error; it prints nothing
/// then.
Status runRank(const ProgramImage &image, const RunOptions &options,
               World &world, Device &device);

/// Threads that a rank uses: the option's, else the host's cores divided by its
/// ranks, at least one.
int threadsPerRank(const RunOptions &options, int worldSize);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_ENGINE_H
