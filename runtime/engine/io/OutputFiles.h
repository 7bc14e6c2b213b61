//===- OutputFiles.h - writes whole outputs from all ranks' parts ---------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes every output of the model to its own .npy file in `directory`, such
/// as "logits.npy". All ranks must call this function after the last step.
/// Every rank writes its own elements to files in a temporary folder of
/// `directory`. If a rank cannot open these files, rank 0 gathers and writes
/// all elements. If all ranks succeed, rank 0 moves the files to `directory`;
/// otherwise rank 0 deletes the files.
///
/// All ranks return exit code 7 if a file cannot be created or written. Only
/// rank 0 returns exit code 7 if a file cannot be moved to `directory`.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
