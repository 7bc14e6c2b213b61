//===- CommunicatorOrder.h - proof that communicators cannot deadlock -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Checks that the ranks of a bundle (the directory that pcc writes) cannot
/// deadlock in calls of communicators. `programs` has the program of each
/// position (virtual pipeline rank), in order. Returns an empty string if all
/// of the following conditions hold. Otherwise returns an error message about
/// the first condition that does not hold:
///
///   - All ranks create the same communicators in the same order. For this, all
///     programs must list equal groups of ranks, and equal pairs of positions
///     that exchange messages.
///   - Every group lies within one position. All ranks of a position execute
///     one program, so they call the collectives of the group in one order,
///     with equal kinds and types. If one rank sends data to another one, both
///     expect the same size.
///   - Every program has the posts (starts of sends and receives) and the waits
///     of `facts.pipeline`. A simulation of the posts and waits terminates even
///     if messages are not buffered and every wait blocks.
///
/// Proof that these conditions suffice: some rank can always advance. Order all
/// instructions by action, in the order of the simulation, and then by place in
/// the program. Let X be the first instruction that some rank has not executed
/// yet. All ranks of X's group have executed everything before X, so they can
/// run X together. If X waits for a message, both ends of the message are
/// posted. So X can be executed.
///
/// The proof assumes one communicator per pair of positions and direction. It
/// also assumes that no communicator waits for GPU resources that a waiting
/// communicator occupies (NcclWorld.h).
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
