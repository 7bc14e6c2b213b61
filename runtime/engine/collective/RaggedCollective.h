//===- RaggedCollective.h - collectives that move only selected rows ------===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// Creates an operation that executes a ragged all-gather or reduce-scatter,
/// and stores the operation in `operation`. A ragged collective sends only the
/// rows (such as tokens) that masks select at run time, as in dropless
/// mixture-of-experts layers (MegaBlocks, Gale et al. 2023).
///
/// The device must share the host's memory. The program must reserve
/// rowScratchElements() elements of temporary memory. Returns exit code 11 if
/// the result of an all-gather, or the operand of a reduce-scatter, has no
/// space for all rows.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
