//===- OutputFiles.h - writes whole outputs from all ranks' parts ---------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes DIRECTORY/NAME.npy for every output. All ranks must call after the
/// last step.
///
/// - Rank 0 creates the files in a temporary folder in DIRECTORY.
/// - Every rank writes its elements to the files. If several ranks hold the
///   same elements, the lowest writes.
/// - Rank 0 renames the files when all ranks have succeeded; otherwise it
///   deletes them.
///
/// Without a shared file system, the ranks send their elements to rank 0. Exit
/// code 7, on all ranks, if a file cannot be written.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
