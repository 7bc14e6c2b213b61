//===- RaggedCollective.h - collectives that move only rows that count ----===//

#ifndef PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
#define PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H

#include "runtime/engine/collective/Collective.h"

namespace pcc::runtime {

/// An AllGather or a ReduceScatter with `row_dims`, whose scratch is large
/// enough. Which rows travel is only known when it runs; both ends of every
/// pair know it alike. Exit code 11 if the layouts have no such rows.
Status prepareRaggedCollective(const LoadContext &context,
                               const program::InstructionT &instruction,
                               const CollectiveSpec &spec, Group *group,
                               std::unique_ptr<Operation> &operation);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_COLLECTIVE_RAGGEDCOLLECTIVE_H
