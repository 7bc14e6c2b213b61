//===- ReductionKind.cpp - kinds of reductions ----------------------------===//
#include "sharding/ReductionKind.h"

#include <iterator>

namespace pcc::dist {

/// Names in the order of the enumerators.
static constexpr const char *kindNames[] = {"sum",  "max", "min",
                                            "prod", "and", "or"};
static_assert(std::size(kindNames) == size_t(ReductionKind::Or) + 1);

const char *toString(ReductionKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

std::optional<ReductionKind> parseReductionKind(std::string_view name) {
  for (size_t i = 0; i < std::size(kindNames); ++i)
    if (name == kindNames[i])
      return static_cast<ReductionKind>(i);
  return std::nullopt;
}

} // namespace pcc::dist
