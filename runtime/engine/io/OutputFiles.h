//===- OutputFiles.h - writes whole outputs from all ranks' parts ---------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes DIRECTORY/NAME.npy for every output. All ranks must call this after
/// the last step.
///
/// - Rank 0 creates every file in a temporary folder in DIRECTORY, with all its
///   bytes reserved.
/// - Every rank writes the elements that it holds directly to their place in
///   the file. If several ranks hold the same elements (replicas), the lowest
///   of these ranks writes them.
/// - When all ranks have succeeded, rank 0 renames the files to their final
///   names; otherwise it deletes them. Two runs that write to one DIRECTORY
///   rename one after the other, so all files are of the same run.
///
/// If some rank cannot access the files that rank 0 created (no shared file
/// system), all ranks send their elements to rank 0, which writes them. Exit
/// code 7 if a file cannot be written. If one rank cannot write, all ranks
/// fail.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
