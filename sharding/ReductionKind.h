//===- ReductionKind.h - kinds of reductions ------------------------------===//
#ifndef PCC_SHARDING_REDUCTIONKIND_H
#define PCC_SHARDING_REDUCTIONKIND_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc::dist {

/// The operation that makes a whole value of partial ones. Compiled programs
/// store only the kinds Sum, Max, Min and Prod. They reduce booleans by Min
/// instead of And, and by Max instead of Or (see arithmetic()).
enum class ReductionKind : uint8_t { Sum, Max, Min, Prod, And, Or };

/// Returns the arithmetic kind that gives equal results for booleans, which are
/// bytes of 0 or 1: Min for And, Max for Or. Returns any other kind unchanged.
constexpr ReductionKind arithmetic(ReductionKind kind) {
  return kind == ReductionKind::And  ? ReductionKind::Min
         : kind == ReductionKind::Or ? ReductionKind::Max
                                     : kind;
}

/// Returns the name of a kind: "sum", "max", "min", "prod", "and" or "or".
const char *toString(ReductionKind kind);
/// Returns the kind with the name `name`, or nullopt for any other text.
std::optional<ReductionKind> parseReductionKind(std::string_view name);

} // namespace pcc::dist

#endif // PCC_SHARDING_REDUCTIONKIND_H
