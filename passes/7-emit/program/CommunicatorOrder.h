//===- CommunicatorOrder.h - a proof that all ranks call alike ------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Why the ranks of a bundle, whose positions execute `programs`, might wait
/// for each other forever in calls of communicators; empty if they cannot. What
/// is looked at:
///
/// - All ranks create the same communicators in one order: groups, and ways of
///   messages between positions, stand in every program alike.
/// - A group lies within one position, whose ranks execute one program: the
///   members of all groups call them in the order of its instructions, with
///   equal kinds and types, and what one sends to another has the size that the
///   other receives.
/// - The posts and waits of every position are those of `facts.pipeline`, whose
///   replay ends although nothing is buffered and every wait blocks.
///
/// That is enough: among the instructions that ranks have not done take the one
/// that comes first in the order of the replay and in its program. All members
/// of its group have done what is before it, and both ends of the messages that
/// it waits for are posted, so it can be done. This needs a communicator for
/// each way of messages, and that none waits for room on a GPU that a waiting
/// one has (`NcclWorld`).
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
