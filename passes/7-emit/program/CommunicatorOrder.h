//===- CommunicatorOrder.h - proof that communicators cannot deadlock -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Checks that ranks cannot deadlock in communication. All programs (one per
/// index along the pipeline axis of the mesh) must create the same
/// communicators in the same order. Each program must run the steps in
/// `facts.pipeline`, whose simulation must not deadlock. Returns an error
/// message, or an empty string.
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
