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

/// One enumerator per row of Lints.def.
enum class Lint : uint8_t {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) ENUMERATOR,
#include "dialects/dist/Lints.def"
};

/// Returns the stable code of a lint: "PCC-L001".
constexpr std::string_view codeOf(Lint lint) {
  constexpr std::string_view codes[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) CODE,
#include "dialects/dist/Lints.def"
  };
  return codes[static_cast<int>(lint)];
}

/// Returns the short name of a lint: "full-gather".
constexpr std::string_view nameOf(Lint lint) {
  constexpr std::string_view names[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) NAME,
#include "dialects/dist/Lints.def"
  };
  return names[static_cast<int>(lint)];
}

/// Size in bytes (64 MiB) from which a fully gathered tensor is reported.
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
/// Share of its block's weights above which a weight is reported if it is whole
/// on every rank of an axis that could split it.
inline constexpr double largeWeightShare = 0.01;
/// Share of padding from which an unevenly split dim is reported.
inline constexpr double largePaddingShare = 0.1;
/// Share of a rank's compute that all ranks of an axis repeat, from which the
/// axis is reported.
inline constexpr double largeRepeatedShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
