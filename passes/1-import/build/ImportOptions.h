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

/// Options of importOnnx. The comments name the command-line options that set
/// them.
struct ImportOptions {
  /// Sizes of dynamic dims by name (--dim batch=8).
  std::map<std::string, int64_t> dims;
  /// Shapes of inputs by name (--shape ids=8x32).
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Additional directory in which external data may lie
  /// (--external-data-root); empty for none.
  std::string externalDataRoot;
  /// Treatment of Dropout nodes (--dropout):
  ///
  ///   Inference  all elements are kept; a node in training mode is unsupported
  ///   AsSaid     a node drops elements if its training_mode input is true
  ///   Never      all elements are kept
  ///   Always     every node drops elements
  enum class Dropout { Inference, AsSaid, Never, Always };
  Dropout dropout = Dropout::Inference;
  /// Seed of the random numbers of Dropout nodes (--seed).
  uint64_t seed = 0;
  /// Whether to import the training step that the model's TrainingInfo
  /// describes. The option has no effect on a model without TrainingInfo.
  bool trainingInfo = false;
  /// Whether weight files may be missing, because the runtime generates the
  /// weights (--random-weights).
  bool allowAbsentWeights = false;
  /// Names and sizes of the axes that split tensors, major to minor. Empty if
  /// the user leaves the axes to the model's annotations.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// Number of pipeline positions (--pp). Empty if the user leaves it to the
  /// annotations.
  std::optional<int64_t> pipeline;
  /// Number of stages per position (--virtual-stages).
  int64_t virtualStages = 1;
  /// Name of the device configuration of the model to use (--configuration), or
  /// "none" to ignore all annotations. If empty, the model decides (see
  /// DevicePlan.h).
  std::string configuration;
  /// The user's command without its --dim options, such as "pcc m.onnx". The
  /// error for unbound dims completes it.
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
