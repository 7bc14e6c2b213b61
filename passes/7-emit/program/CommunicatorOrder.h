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
///   - Every group lies within one position, whose ranks execute one program. The
///     members of a group therefore call its collectives in one order, with equal
///     kinds and types. If one member sends data to another one, both expect the
///     same size.
///   - Every program has the posts (starts of sends and receives) and the waits
///     of `facts.pipeline`. A simulation (replay) of the posts and waits
///     terminates even if messages are not buffered and every wait blocks.
///
/// These conditions suffice. Sort all instructions that some rank has not
/// executed yet: first by action in the order of the simulation, then by place
/// in the program. Let X be the first instruction in this order. All members of
/// the group of X have executed all instructions before X. Both ends of each
/// message that X waits for are posted. So X can be executed, and some rank
/// always advances.
///
/// The proof assumes one communicator per pair of positions and direction. It
/// also assumes that no communicator waits for GPU resources that a waiting
/// communicator occupies (NcclWorld.h).
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
