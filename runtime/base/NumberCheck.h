//===- NumberCheck.h - checks of numbers on the command line --------------===//

#ifndef PCC_RUNTIME_BASE_NUMBERCHECK_H
#define PCC_RUNTIME_BASE_NUMBERCHECK_H

#include <cstdint>
#include <limits>
#include <string>

namespace pcc::runtime {

/// Returns an empty text if `text` is a decimal integer from `least` to `most`.
/// Otherwise, returns an error message such as "needs a whole number of at
/// least 1, got 'two'".
std::string
checkWholeNumber(const std::string &text, int64_t least,
                 int64_t most = std::numeric_limits<int64_t>::max());

/// Returns an empty text if `text` is a decimal integer from 0 to 2^64 - 1,
/// such as a seed. Otherwise, returns an error message like checkWholeNumber().
std::string checkSeed(const std::string &text);

/// Range of real numbers from `least` to `most`. The range can exclude either
/// end. By default, the range contains all finite numbers that are at least 0.
struct RealRange {
  double least = 0, most = std::numeric_limits<double>::max();
  bool excludesLeast = false, excludesMost = false;
};

/// Returns an empty text if `text` is a finite number in `range`, and otherwise
/// an error message such as "needs a number above 0, got 'nan'".
std::string checkRealNumber(const std::string &text, const RealRange &range);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_NUMBERCHECK_H
