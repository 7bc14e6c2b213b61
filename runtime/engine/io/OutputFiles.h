//===- OutputFiles.h - writes whole outputs from all ranks' parts ---------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes DIRECTORY/NAME.npy for every output. All ranks call this after the
/// last step.
///
/// - Rank 0 creates every file under a temporary name, with all its bytes
///   reserved.
/// - Every rank writes its own parts in place. Among replicas, the lowest rank
///   writes.
/// - When all ranks have succeeded, rank 0 renames the files; otherwise it
///   deletes them.
///
/// If some rank cannot see the files of rank 0 (no shared file system), all
/// ranks send their parts to rank 0, which writes them. Exit code 7 for a file
/// that cannot be written; if one rank cannot write, all ranks fail.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
