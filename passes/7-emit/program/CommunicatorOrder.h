//===- CommunicatorOrder.h - proof that communicators cannot deadlock -----===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
#define PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H

#include "passes/7-emit/program/ModelFacts.h"

#include <span>

namespace pcc::emit {

/// Checks that the ranks of a bundle cannot deadlock in communication. A
/// position is the set of pipeline stages that one rank runs. All ranks with
/// the same position execute the same program. `programs` contains one program
/// per position. Returns an error message if one of three conditions does not
/// hold. Returns an empty string if all three hold:
///
/// 1. All programs list the same groups of ranks in the same order. A group is
///    a set of ranks that call collectives together. All programs also list the
///    same messages between positions. All ranks therefore create the same
///    communicators in the same order.
/// 2. All ranks of a group are at one position. They execute the same program,
///    so they call their collectives in the same order. Some collectives
///    consist of messages between the ranks of a group. Both ranks of such a
///    message expect the same number of elements.
/// 3. Each program executes the steps that `facts.pipeline` lists for its
///    position. A step runs a function, starts messages to or from other
///    positions, or waits for such messages. plan::replay() simulates the steps
///    of all positions. In the simulation, a wait blocks until both ranks have
///    started the message. Every position reaches its last step.
///
/// Proof that some rank can always continue: sort the instructions of all ranks
/// in the order in which the simulation executes them. Let X be the first
/// instruction in this order that some rank has not executed.
///
/// - X is a collective. All ranks of its group have executed all instructions
///   before X. They can execute X together.
/// - X waits for a message. The sender and the receiver have already started
///   the message. The wait will end.
/// - X is another instruction. X needs no other rank.
///
/// The proof makes two assumptions:
///
/// - The messages from one position to another have a communicator that only
///   these messages use.
/// - A call of one communicator that waits leaves enough GPU thread blocks for
///   the calls of all other communicators. NcclWorld.cpp limits the thread
///   blocks of each communicator for this purpose.
std::string findDeadlock(const ModelFacts &facts,
                         std::span<const program::ProgramT *const> programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_COMMUNICATORORDER_H
