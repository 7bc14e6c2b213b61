//===- QuantityText.h - bytes, seconds and counts as text -----------------===//

#ifndef PCC_RUNTIME_BASE_QUANTITYTEXT_H
#define PCC_RUNTIME_BASE_QUANTITYTEXT_H

#include <cstdint>
#include <string>

namespace pcc::runtime {

/// Returns a number of bytes as text in a suitable binary unit, such as "96.0
/// KiB".
std::string bytesText(double bytes);

/// Returns a duration as text with three digits in a suitable unit, such as
/// "12.5 us", "114 ms" or "1.17 s".
std::string secondsText(double seconds);

/// Returns a number with three digits and a decimal prefix, such as "18.4k".
std::string roundText(double number);

/// Returns a duration as on a clock, such as "4:31" or "1:02:03".
std::string clockText(double seconds);

/// Returns a share as a percentage, such as "97 %" for 0.97.
std::string shareText(double share);

/// Returns a count with its noun in singular or plural, such as "1 rank", "2
/// ranks" or "236,736 parameters". Numbers of at least five digits have commas.
/// `noun` is the singular; the plural ends in "s" or, after "ch" and "x", in
/// "es".
std::string countText(int64_t count, const std::string &noun);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_QUANTITYTEXT_H
