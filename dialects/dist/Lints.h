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

/// Threshold of the lint `full-gather`: 64 MiB. `pcc explain` warns if an
/// all-gather gives every rank a whole tensor of at least 64 MiB.
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
/// Threshold of the lint named `whole-weight`: 0.01. `pcc explain` warns about
/// a large weight that certain mesh axes, such as tp, do not split. A weight is
/// large if it has more than 1 % of the bytes of an average layer. For example,
/// the weights of a model with 12 layers have 1200 MB in total. An average
/// layer then has 100 MB, and a weight is large if it has more than 1 MB.
inline constexpr double largeWeightShare = 0.01;
/// Threshold of the lint named `padding`: 0.1. `pcc explain` warns if at least
/// a tenth of the elements of a split dim are padding. For example, two ranks
/// split a dim of 7 elements. Each rank has 4 elements, so 1 of 8 elements is
/// padding. `pcc explain` warns, because 1/8 is greater than 0.1.
inline constexpr double largePaddingShare = 0.1;
/// Threshold of the lint unused-axis: 0.5. `pcc explain` warns if at least half
/// of a rank's floating-point operations are the same on all ranks along a mesh
/// axis.
inline constexpr double largeRepeatedShare = 0.5;
/// Threshold of the lint unbalanced-stages: 0.5. `pcc explain` warns if a
/// pipeline stage has fewer floating-point operations than this share of those
/// of the largest stage.
inline constexpr double smallStageShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
