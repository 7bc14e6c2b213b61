//===- ByteSize.h - sizes as users write them -----------------------------===//

#ifndef PCC_TOOLS_PCC_BYTESIZE_H
#define PCC_TOOLS_PCC_BYTESIZE_H

#include <cstdint>
#include <optional>
#include <string>

namespace pcc::tool {

/// "80GiB", "1.5GB", "4096"; nothing if it is no size of at least a byte.
std::optional<int64_t> parseBytes(const std::string &text);

} // namespace pcc::tool

#endif // PCC_TOOLS_PCC_BYTESIZE_H
