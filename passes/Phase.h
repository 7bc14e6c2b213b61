//===- Phase.h - the phases by number and name ----------------------------===//

#ifndef PCC_PASSES_PHASE_H
#define PCC_PASSES_PHASE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc {

/// 1 for the import, and so on: a phase's value is its folder's number.
enum class Phase : uint8_t {
  None,
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) ENUMERATOR,
#include "passes/Phases.def"
};

inline constexpr Phase lastPhase = Phase::Emit;

/// "4-shard"; dumps are named like this.
std::string_view folderOf(Phase phase);
std::string_view meaningOf(Phase phase);

/// `4`, `shard` or `4-shard`.
std::optional<Phase> parsePhase(std::string_view text);

inline Phase after(Phase phase) {
  return static_cast<Phase>(static_cast<uint8_t>(phase) + 1);
}

} // namespace pcc

#endif // PCC_PASSES_PHASE_H
