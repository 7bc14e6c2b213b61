//===- RaggedCollective.h - collectives that move only selected rows ------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// Creates an operation that executes a ragged AllGather or ReduceScatter, and
/// stores it in `operation`. A row is the block of elements at one index of a
/// tensor's first dims, such as one token. A ragged collective sends only some
/// rows of a tensor. Masks select these rows. A mask is an array of bytes that
/// the program computes at run time. For example, a rank has rows 0 to 3 of a
/// tensor, and a mask selects rows 1 and 3 for another rank. An AllGather then
/// sends only rows 1 and 3 to the other rank. Dropless mixture-of-experts
/// layers move tokens to their experts in this way (MegaBlocks, Gale et al.
/// 2023).
///
/// - `instruction` is the collective instruction of the program.
/// - `spec` has the kind of the collective, and describes how the operand and
///   the result are divided over ranks.
/// - `group` is the communicator of the ranks that take part.
///
/// The program must reserve rowScratchElements() elements of temporary memory
/// for the operation. The device must share the host's memory.
///
/// One buffer of this rank must have space for the rows of all ranks that take
/// part. The function returns exit code 11 if the buffer does not have this
/// space.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
