//===- RaggedCollective.h - collectives that move only selected rows ------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// Prepares a ragged AllGather or ReduceScatter, which moves only the rows that
/// masks select at run time. Dropless mixture-of-experts layers use these
/// collectives to move tokens to experts and back (MegaBlocks, Gale et al.
/// 2023). Sender and receiver have equal masks, so they know the sizes of all
/// messages.
///
/// The instruction must have a positive `row_dims`. Its scratch must have at
/// least rowScratchElements() elements. The device must share the host's
/// memory. Exit code 11 if planRows() finds no RowPlan (row indices) for the
/// layouts.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
