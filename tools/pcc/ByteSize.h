//===- ByteSize.h - parser of byte sizes on the command line --------------===//

#ifndef PCC_TOOLS_PCC_BYTESIZE_H
#define PCC_TOOLS_PCC_BYTESIZE_H

#include <cstdint>
#include <optional>
#include <string>

namespace pcc::tool {

/// Parses a number of bytes such as "80GiB", "1.5 GB" or "4096". Units are
/// powers of 1000 (kB, MB, GB, TB) or of 1024 (KiB, MiB, GiB, TiB); fractions
/// of a byte are dropped. Returns std::nullopt for any other text, and for
/// sizes under 1 byte or over 10^18 bytes.
std::optional<int64_t> parseBytes(const std::string &text);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_BYTESIZE_H
