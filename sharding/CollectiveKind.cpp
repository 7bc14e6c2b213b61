//===- CollectiveKind.cpp - kinds of collectives --------------------------===//
#include "sharding/CollectiveKind.h"

#include <iterator>

namespace pcc::dist {

/// Names in the order of the enumerators.
static constexpr const char *kindNames[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute",
    "exchange",   "broadcast",  "slice",          "mask"};
static_assert(std::size(kindNames) == size_t(CollectiveKind::Mask) + 1);

const char *toString(CollectiveKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

std::optional<CollectiveKind> parseCollectiveKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kindNames); ++i)
    if (name == kindNames[i])
      return static_cast<CollectiveKind>(i);
  return std::nullopt;
}

} // namespace pcc::dist
