//===- RandomToken.h - secret of a job that pcc itself starts -------------===//

#ifndef PCC_RUNTIME_LAUNCH_JOB_RANDOMTOKEN_H
#define PCC_RUNTIME_LAUNCH_JOB_RANDOMTOKEN_H

#include <cstddef>
#include <string>

namespace pcc::runtime {

/// Returns `size` random bytes from the kernel as 2 * `size` hexadecimal
/// digits.
std::string randomDigits(size_t size);

/// Returns a new value of PCC_JOB_TOKEN, the secret that the ranks of a job
/// share: 32 hexadecimal digits.
std::string randomToken();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_JOB_RANDOMTOKEN_H
