//===- ByteSize.cpp - parser of byte sizes on the command line ------------===//

#include "tools/pcc/ByteSize.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>

using namespace pcc;

std::optional<int64_t> tool::parseBytes(const std::string &text) {
  static const std::regex form("([0-9]+([.][0-9]+)?)( ?([kKMGT]?)(i?)B)?");
  std::smatch match;
  if (!std::regex_match(text, match, form))
    return std::nullopt;
  // Group 4 of the regular expression is the prefix of the unit (K, M, ...).
  // Group 5 is the "i" of "KiB".
  const std::string unit = match[4];
  // An "i" without a prefix, as in "5iB", is not a unit.
  if (unit.empty() && match[5].length() > 0)
    return std::nullopt;
  const size_t power =
      unit.empty() ? 0 : std::string("KMGT").find(toupper(unit[0])) + 1;
  const double bytes = std::strtod(match.str(1).c_str(), nullptr) *
                       std::pow(match[5].length() > 0 ? 1024.0 : 1000.0, power);
  if (bytes < 1 || bytes > 1e18)
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}
