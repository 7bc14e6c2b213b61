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

/// Smallest size of a tensor, in bytes (64 MiB), for which the lint full-gather
/// warns that an all-gather makes the tensor whole on every rank.
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
/// Threshold of the lint whole-weight: a weight's fraction of the bytes of all
/// weights of its model block (layer). The lint warns if a weight exceeds the
/// fraction and is replicated along a mesh axis that could split it.
inline constexpr double largeWeightShare = 0.01;
/// Threshold of the lint padding: the fraction of padding among the elements of
/// all ranks' shards. The lint warns if a dim is split unevenly and its padding
/// reaches this fraction.
inline constexpr double largePaddingShare = 0.1;
/// Threshold of the lint unused-axis: a fraction of the floating-point
/// operations of one rank. The lint warns about a mesh axis if all ranks along
/// the axis repeat the same operations, and these reach the fraction.
inline constexpr double largeRepeatedShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
