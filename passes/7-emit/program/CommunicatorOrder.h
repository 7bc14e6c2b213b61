//===- CommunicatorOrder.h - proof that communicators cannot deadlock -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Checks that the ranks of a bundle (the directory that pcc writes) cannot
/// wait for each other forever in calls of communicators. `programs` are the
/// programs of all positions (virtual pipeline ranks), in order. Returns an
/// empty string, or a message about the first violation of these conditions:
///
///   - All ranks create the same communicators in the same order: the groups, and
///     the pairs of positions that exchange messages, are equal in all programs.
///   - Every group lies within one position, whose ranks execute one program. The
///     members of a group therefore call its collectives in one order, with equal
///     kinds and types. Each piece that one member sends has the size that the
///     other member receives.
///   - The posts and waits of every position are those of `facts.pipeline`. A
///     simulation of them (replay) terminates even if nothing is buffered and
///     every wait blocks.
///
/// These conditions suffice. Order the instructions that some rank has yet to
/// execute as the replay does, then by their place in the program, and take the
/// first one. All members of its group have executed all instructions before
/// it. Both ends of the messages that it waits for are posted. So the
/// instruction can be executed, and some rank always advances.
///
/// The proof assumes one communicator per pair of positions and direction. It
/// also assumes that no communicator waits for GPU resources that a waiting
/// communicator occupies (NcclWorld.h).
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
