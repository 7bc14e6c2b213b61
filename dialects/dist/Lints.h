//===- Lints.h - what may be wrong with how a model lies ------------------===//

#ifndef PCC_DIALECTS_DIST_LINTS_H
#define PCC_DIALECTS_DIST_LINTS_H

#include <cstdint>
#include <string_view>

namespace pcc::dist {

enum class Lint : uint8_t {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) ENUMERATOR,
#include "dialects/dist/Lints.def"
};

/// "PCC-L001"
constexpr std::string_view codeOf(Lint lint) {
  constexpr std::string_view codes[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) CODE,
#include "dialects/dist/Lints.def"
  };
  return codes[static_cast<int>(lint)];
}

/// "full-gather"
constexpr std::string_view nameOf(Lint lint) {
  constexpr std::string_view names[] = {
#define PCC_LINT(ENUMERATOR, CODE, NAME, MEANING) NAME,
#include "dialects/dist/Lints.def"
  };
  return names[static_cast<int>(lint)];
}

/// The thresholds that Lints.def tells of.
inline constexpr int64_t largeGatherBytes = int64_t(64) << 20;
inline constexpr double largeWeightShare = 0.01;
inline constexpr double largePaddingShare = 0.1;
inline constexpr double largeRepeatedShare = 0.5;

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_LINTS_H
