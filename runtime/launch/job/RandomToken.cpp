//===- RandomToken.cpp - secret of a job that pcc itself starts -----------===//

#include "runtime/launch/job/RandomToken.h"

#include <cstdlib>
#include <sys/random.h>

namespace pcc::runtime {

/// Gets `size` random bytes from the kernel by getentropy(), and returns two
/// hexadecimal digits for each byte. No other process must be able to guess the
/// digits, because a caller uses them as a secret. The function therefore ends
/// the process by std::abort() if getentropy() fails.
///
/// The library libsodium also generates random bytes. The function does not use
/// libsodium, because the executable BUNDLE/run contains the function.
/// BUNDLE/run is part of every bundle and is not linked with libsodium.
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
