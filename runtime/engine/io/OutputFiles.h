//===- OutputFiles.h - writes the outputs, each rank its parts ------------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes DIRECTORY/NAME.npy for every output. Called by all ranks after the
/// last step. Rank 0 makes the files under other names, every rank writes its
/// own parts (of replicated ones the lowest rank), and when all have succeeded
/// rank 0 gives them their names; otherwise it removes them. Where a rank does
/// not see rank 0's files, it sends its parts to rank 0.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
