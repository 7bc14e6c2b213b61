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

/// Threshold of the lint full-gather, in bytes (64 MiB). It warns about a
/// tensor of at least this size that an all-gather makes whole on every rank.
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
/// Threshold of the lint whole-weight, a fraction of the bytes of all weights
/// of one model block (layer). It warns about a weight above this fraction that
/// is whole on every rank of a mesh axis, although the axis could split it.
inline constexpr double largeWeightShare = 0.01;
/// Threshold of the lint padding, a fraction of the elements of all ranks'
/// parts. It warns about a dim that is split unevenly so that at least this
/// fraction is padding.
inline constexpr double largePaddingShare = 0.1;
/// Threshold of the lint unused-axis, a fraction of a rank's floating-point
/// operations. It warns about a mesh axis if all ranks along the axis repeat at
/// least this fraction.
inline constexpr double largeRepeatedShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
