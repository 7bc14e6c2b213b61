//===- RandomFunction.h - small functions with pinned ends ----------------===//

#ifndef PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H
#define PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H

#include <cstdint>
#include <string>

namespace pcc::shard {

/// Returns the text of a module with a mesh of one to three axes and a function
/// of up to seven ops on matrices. Some inputs, outputs and inner values are
/// pinned. Equal seeds give equal text on every machine.
std::string randomFunction(uint64_t seed);

} // namespace pcc::shard

#endif // PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H
