//===- OutputFiles.h - writes whole outputs from all ranks' parts ---------===//

#ifndef PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
#define PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/io/HostBuffers.h"

namespace pcc::runtime {

/// Writes every output of the model to its own .npy file in `directory`. For
/// example, the output "logits" gets the file "logits.npy". All ranks must call
/// this function after the last step.
///
/// - Rank 0 creates the files in a temporary folder in `directory`.
/// - Every rank writes its own elements to the files. If several ranks hold the
///   same elements, only the rank with the lowest number writes these elements.
/// - If all ranks have succeeded, rank 0 moves the files from the temporary
///   folder to `directory`. Otherwise rank 0 deletes the files.
///
/// A rank may be unable to open the files that rank 0 has created, for example
/// because the two ranks have different file systems. All ranks then send their
/// elements to rank 0, and rank 0 writes all elements.
///
/// If a file cannot be created or written, all ranks return exit code 7. If a
/// file cannot be moved to `directory`, only rank 0 returns exit code 7.
Status writeOutputs(const program::ProgramT &program, const Mesh &mesh,
                    const Coordinates &at, const std::string &directory,
                    HostBuffers &buffers, World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_IO_OUTPUTFILES_H
