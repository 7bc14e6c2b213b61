//===- Phase.cpp - phases of the compiler, by number and name -------------===//

#include "passes/Phase.h"

using namespace pcc;

/// Folder names of the phases, such as "4-shard". The name of `None` is empty.
static constexpr std::string_view folders[] = {
    "",
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) FOLDER,
#include "passes/Phases.def"
};

/// Descriptions of the phases, one line each. The description of `None` is
/// empty.
static constexpr std::string_view meanings[] = {
    "",
#define PCC_PHASE(ENUMERATOR, FOLDER, MEANING, GATE) MEANING,
#include "passes/Phases.def"
};

std::string_view pcc::folderOf(Phase phase) {
  return folders[static_cast<size_t>(phase)];
}
std::string_view pcc::meaningOf(Phase phase) {
  return meanings[static_cast<size_t>(phase)];
}

std::optional<Phase> pcc::parsePhase(std::string_view text) {
  for (Phase phase = Phase::Import; phase <= lastPhase; phase = after(phase)) {
    std::string_view folder = folderOf(phase);
    if (text == folder || text == folder.substr(0, 1) ||
        text == folder.substr(2))
      return phase;
  }
  return std::nullopt;
}
