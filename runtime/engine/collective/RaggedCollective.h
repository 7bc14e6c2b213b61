//===- RaggedCollective.h - collectives that move only selected rows ------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// Creates an operation that executes a ragged AllGather or ReduceScatter, and
/// stores the operation in `operation`. A ragged collective sends only some
/// rows of a tensor. A row is the block of elements at one index of a tensor's
/// first dims, such as one token. Masks select the rows. A mask is an array of
/// bytes that the program computes at run time. Dropless mixture-of-experts
/// layers move tokens to their experts in this way (MegaBlocks, Gale et al.
/// 2023).
///
/// For example, there are 2 ranks. Rank 0 has rows 0 to 3 of a tensor. A mask
/// selects rows 1 and 3 for rank 1. In an AllGather, rank 0 then sends only
/// rows 1 and 3 to rank 1.
///
/// The parameters are:
///
/// - `context`: the program, the mesh and the device. The device must share the
///   host's memory.
/// - `instruction`: the collective instruction of the program. The program must
///   reserve rowScratchElements() elements of temporary memory for the
///   instruction.
/// - `spec`: the kind of the collective, and the division of the operand and of
///   the result over ranks.
/// - `group`: the communicator of the ranks that take part.
///
/// The result of an AllGather, or the operand of a ReduceScatter, must have
/// space for the rows of all ranks that take part. Otherwise the function
/// returns an error with exit code 11.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
