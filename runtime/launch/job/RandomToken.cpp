//===- RandomToken.cpp - secret of a job that pcc itself starts -----------===//

#include "runtime/launch/job/RandomToken.h"

#include <cstdlib>
#include <sys/random.h>

namespace pcc::runtime {

/// Gets the random bytes from the kernel by getentropy(). Ends the process if
/// the kernel gives no random bytes, because another process could guess a
/// secret that is not random.
///
/// Does not use the random numbers of libsodium. The function is also linked
/// into the executable BUNDLE/run, which starts the ranks of a bundle.
/// BUNDLE/run is not linked with libsodium.
std::string randomDigits(size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    unsigned char byte = 0;
    if (getentropy(&byte, 1) != 0)
      std::abort();
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string randomToken() { return randomDigits(16); }

} // namespace pcc::runtime
