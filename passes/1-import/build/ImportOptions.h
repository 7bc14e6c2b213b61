//===- ImportOptions.h - options of the import ----------------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
#define PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pcc {

struct ImportOptions {
  /// Sizes of dynamic dims by name (--dim batch=8).
  std::map<std::string, int64_t> dims;
  /// Whole shapes of inputs by name (--shape ids=8x32).
  std::map<std::string, std::vector<int64_t>> shapes;
  /// A further directory in which external data may lie.
  std::string externalDataRoot;
  /// What Dropout nodes become. In inference nothing, and one that says that it
  /// drops elements is refused; else what they say, or nothing, or all of them
  /// drop.
  enum class Dropout { Inference, AsSaid, Never, Always };
  Dropout dropout = Dropout::Inference;
  /// Of their random numbers.
  uint64_t seed = 0;
  /// The model is trained as its TrainingInfo says, if it has one; without it
  /// nothing changes.
  bool trainingInfo = false;
  /// Missing weight files are no error: the run time generates weights.
  bool allowAbsentWeights = false;
  /// The axes that split tensors, major to minor; nothing if the user left that
  /// to the model's annotations.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// --pp and --virtual-stages.
  std::optional<int64_t> pipeline;
  int64_t virtualStages = 1;
  /// Which of the model's device configurations holds: its name, "none", or
  /// empty for the only one.
  std::string configuration;
  /// The command that the user typed, without --dim; the error for unbound dims
  /// completes it.
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
