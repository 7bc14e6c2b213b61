//===- Lints.h - lints on shardings, with codes and thresholds ------------===//
//
// Lints are warnings of `pcc explain` about a sharded model, such as an
// all-gather of a large tensor. Lints.def is their only list.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_LINTS_H
#define PCC_DIALECTS_DIST_LINTS_H

#include <cstdint>
#include <string_view>

namespace pcc::dist {

/// Lints (warnings of `pcc explain` about shardings), with one enumerator per
/// row of Lints.def.
enum class Lint : uint8_t {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) ENUMERATOR,
#include "dialects/dist/Lints.def"
};

/// Returns the code of a lint, such as "PCC-L001". A code never changes its
/// meaning.
constexpr std::string_view codeOf(Lint lint) {
  constexpr std::string_view codes[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) CODE,
#include "dialects/dist/Lints.def"
  };
  return codes[static_cast<int>(lint)];
}

/// Returns the short name of a lint, such as "full-gather".
constexpr std::string_view nameOf(Lint lint) {
  constexpr std::string_view names[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) NAME,
#include "dialects/dist/Lints.def"
  };
  return names[static_cast<int>(lint)];
}

/// Size in bytes from which the lint full-gather warns about an all-gather that
/// gives every rank the whole tensor (64 MiB).
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
/// Fraction above which the lint whole-weight warns about a replicated weight
/// that a mesh axis could split. The fraction is the size of the weight divided
/// by the size of all weights of one model block (layer).
inline constexpr double largeWeightShare = 0.01;
/// Fraction from which the lint padding warns about a dim that is split
/// unevenly. The fraction is the padding divided by all elements of the dim's
/// parts. A dim of 9 in 2 parts of 5 elements has the fraction 1/10.
inline constexpr double largePaddingShare = 0.1;
/// Fraction of a rank's floating-point operations from which the lint
/// unused-axis warns about a mesh axis. The fraction counts the operations that
/// all ranks along the axis repeat.
inline constexpr double largeRepeatedShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
