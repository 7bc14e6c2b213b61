//===- CommunicatorOrder.h - proof that communicators cannot deadlock -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Checks that the ranks of a bundle cannot deadlock in communication.
/// `programs` has one program per position (virtual pipeline rank). Returns an
/// error message for the first condition that does not hold, or an empty
/// string:
///
///   - All ranks create the same communicators in the same order: all programs
///     list equal groups, and equal pairs of positions that exchange messages.
///   - Every group lies within one position, whose ranks execute one program.
///     In each collective, sender and receiver expect the same size.
///   - Every program has the steps that `facts.pipeline` lists for its position:
///     runs of functions, starts of messages, and waits. plan::replay()
///     simulates these steps. The simulation ends even if every wait blocks.
///
/// Proof that some rank can always advance: order all instructions as in the
/// simulation. Let X be the first instruction that some rank has not executed.
/// All ranks of X's group have executed everything before X, so they can run X
/// together. If X waits for a message, its sender and its receiver have already
/// started the message.
///
/// The proof assumes one communicator per pair of positions and direction. A
/// waiting communicator must not occupy GPU resources that another one needs
/// (NcclWorld.h).
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
