//===- Phase.h - phases of the compiler, by number and name ---------------===//

#ifndef PCC_PASSES_PHASE_H
#define PCC_PASSES_PHASE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc {

/// The phases of the compiler in order. The value of an enumerator is the
/// number in its folder's name, such as 1 for `1-import`. `None` is the phase
/// of a module that no phase has processed.
enum class Phase : uint8_t {
  None,
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) ENUMERATOR,
#include "passes/Phases.def"
};

/// The last phase, after which a bundle (the directory with the compiled
/// programs) can be written.
inline constexpr Phase lastPhase = Phase::Emit;

/// Returns the folder name of a phase, such as "4-shard"; empty for `None`. The
/// phase's dump has the same name: 4-shard.mlir.
std::string_view folderOf(Phase phase);
/// Returns a description of the phase in one line; empty for `None`.
std::string_view meaningOf(Phase phase);

/// Parses the name of a phase: `4`, `shard` or `4-shard`. Returns nullopt for
/// any other text.
std::optional<Phase> parsePhase(std::string_view text);

/// Returns the phase that follows `phase`. The result for `lastPhase` is no
/// valid phase.
inline Phase after(Phase phase) {
  return static_cast<Phase>(static_cast<uint8_t>(phase) + 1);
}

/// Returns the phase that `phase` follows. `phase` must not be `None`.
inline Phase before(Phase phase) {
  return static_cast<Phase>(static_cast<uint8_t>(phase) - 1);
}

} // namespace pcc

#endif // PCC_PASSES_PHASE_H
