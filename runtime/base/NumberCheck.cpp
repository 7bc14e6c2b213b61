//===- NumberCheck.cpp - checks of numbers on the command line ------------===//

#include "runtime/base/NumberCheck.h"

#include <charconv>
#include <cmath>
#include <sstream>

namespace pcc::runtime {

/// Parses all of `text` as a number. Returns false if `text` is not a number,
/// or if the number does not fit in `Number`.
template <typename Number>
static bool parseAll(const std::string &text, Number &number) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

static std::string unfit(const std::string &wanted, const std::string &text) {
  return "needs " + wanted + ", got '" + text + "'";
}

std::string checkWholeNumber(const std::string &text, int64_t least,
                             int64_t most) {
  int64_t number = 0;
  if (parseAll(text, number) && number >= least && number <= most)
    return {};
  // If the number is too large, the message contains the upper bound instead of
  // the lower bound.
  const bool isHigh = !text.empty() && text.front() != '-' &&
                      text.find_first_not_of("0123456789") == text.npos &&
                      (!parseAll(text, number) || number > most);
  return unfit(isHigh ? "a whole number of at most " + std::to_string(most)
                      : "a whole number of at least " + std::to_string(least),
               text);
}

std::string checkSeed(const std::string &text) {
  uint64_t number = 0;
  return parseAll(text, number)
             ? std::string()
             : unfit("a whole number from 0 to 18446744073709551615", text);
}

/// Returns `range` in words, such as "a number from 0 to below 1".
static std::string describe(const RealRange &range) {
  std::ostringstream text;
  text << "a number ";
  if (range.most < std::numeric_limits<double>::max())
    text << "from " << range.least << " to "
         << (range.excludesMost ? "below " : "") << range.most;
  else
    text << (range.excludesLeast ? "above " : "of at least ") << range.least;
  return text.str();
}

std::string checkRealNumber(const std::string &text, const RealRange &range) {
  double number = 0;
  const bool fits =
      parseAll(text, number) && std::isfinite(number) &&
      (range.excludesLeast ? number > range.least : number >= range.least) &&
      (range.excludesMost ? number < range.most : number <= range.most);
  return fits ? std::string() : unfit(describe(range), text);
}

} // namespace pcc::runtime
