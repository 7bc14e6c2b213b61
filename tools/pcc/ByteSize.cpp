//===- ByteSize.cpp - sizes as users write them ---------------------------===//

#include "tools/pcc/ByteSize.h"

#include <cmath>
#include <cstdlib>
#include <regex>

using namespace pcc;

std::optional<int64_t> tool::parseBytes(const std::string &text) {
  static const std::regex form("([0-9]+([.][0-9]+)?)(([KMGT]?)(i?)B)?");
  std::smatch match;
  if (!std::regex_match(text, match, form))
    return std::nullopt;
  const std::string unit = match[4];
  if (unit.empty() && match[5].length() > 0)
    return std::nullopt;
  const size_t power = unit.empty() ? 0 : std::string("KMGT").find(unit) + 1;
  const double bytes = std::strtod(match.str(1).c_str(), nullptr) *
                       std::pow(match[5].length() > 0 ? 1024.0 : 1000.0, power);
  if (bytes < 1 || bytes > 1e18)
    return std::nullopt;
  return static_cast<int64_t>(bytes);
}
