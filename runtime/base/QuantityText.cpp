//===- QuantityText.cpp - bytes, seconds and counts as text ---------------===//

#include "runtime/base/QuantityText.h"
#include "status/Counted.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace pcc::runtime {

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), unit ? "%.1f %s" : "%.0f %s", bytes,
                units[unit]);
  return text.data();
}

/// Returns how many decimals show `number` with three digits. The number is
/// rounded first, so that 99.96 has the text "100".
static int decimalsOf(double number) {
  return number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
}

std::string secondsText(double seconds) {
  const bool isMicro = seconds < 0.9995e-3, isMilli = seconds < 0.9995;
  const double number = seconds * (isMicro ? 1e6 : isMilli ? 1e3 : 1);
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", decimalsOf(number), number,
                isMicro   ? "us"
                : isMilli ? "ms"
                          : "s");
  return text.data();
}

std::string roundText(double number) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T"};
  int prefix = 0;
  while (number >= 999.5 && prefix < 4) {
    number /= 1000;
    ++prefix;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*f%s", decimalsOf(number), number,
                prefixes[prefix]);
  return text.data();
}

std::string clockText(double seconds) {
  const long long all = std::llround(seconds), hours = all / 3600;
  std::array<char, 48> text;
  if (hours > 0)
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", hours,
                  all / 60 % 60, all % 60);
  else
    std::snprintf(text.data(), text.size(), "%lld:%02lld", all / 60, all % 60);
  return text.data();
}

std::string shareText(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

std::string countText(int64_t count, const std::string &noun) {
  std::string digits = std::to_string(count);
  if (count >= 10000)
    for (size_t at = digits.size(); at > 3;)
      digits.insert(at -= 3, ",");
  return digits + " " + (count == 1 ? noun : pluralOf(noun));
}

} // namespace pcc::runtime
