//===- RandomFunction.h - small functions with pinned ends ----------------===//

#ifndef PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H
#define PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H

#include <cstdint>
#include <string>

namespace pcc::shard {

/// The text of a module with a mesh of one to three axes and a function of up
/// to seven ops on matrices, of which some inputs, outputs and values between
/// are pinned. The same seed gives the same text anywhere.
std::string randomFunction(uint64_t seed);

} // namespace pcc::shard

#endif // PCC_TEST_PASSES_4_SHARD_RANDOMFUNCTION_H
