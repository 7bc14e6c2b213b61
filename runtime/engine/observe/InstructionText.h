//===- InstructionText.h - names of instructions for messages -------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_INSTRUCTIONTEXT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_INSTRUCTIONTEXT_H

#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// Returns the name of the ops that `instruction` executes:
///
/// - "add, relu" for a kernel that computes these graph ops
/// - the kind of a collective, such as "AllReduce"
/// - the name of an op on the host
/// - the kind of any other instruction, such as "Matmul"
std::string opsOf(const program::InstructionT &instruction);

/// Returns the ops of `instruction` and the name of the model's node from which
/// they come, such as "op Matmul of node 'fc1'". Without a node, as in the
/// loss or the optimizer, returns the ops alone.
std::string describe(const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_INSTRUCTIONTEXT_H
