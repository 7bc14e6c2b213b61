//===- RaggedCollective.h - collectives that move only selected rows ------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// Prepares a ragged AllGather or ReduceScatter, which moves only the rows that
/// masks select at run time. Dropless mixture-of-experts layers move tokens to
/// experts in this way (MegaBlocks, Gale et al. 2023).
///
/// The program must reserve rowScratchElements() elements of scratch (temporary
/// memory). The device must share the host's memory. Returns exit code 11 if a
/// buffer of this rank has no space for some row.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
