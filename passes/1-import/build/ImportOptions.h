//===- ImportOptions.h - options of the import ----------------------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
#define PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pcc {

/// Options of importOnnx. Each member's comment names its command-line option.
struct ImportOptions {
  /// Sizes of dynamic dims by name (--dim batch=8).
  std::map<std::string, int64_t> dims;
  /// Shapes of model inputs by the input's name (--shape ids=8x32).
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Directory in which external weight files may lie besides the model's own
  /// directory (--external-data-root). Empty for none.
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
  /// Whether to import the training step that the model's ONNX TrainingInfo
  /// describes. Without effect if the model has no TrainingInfo.
  bool trainingInfo = false;
  /// Returns whether training changes the weight of the given name, provided
  /// that its type is a float and the loss depends on it (--train-only,
  /// --freeze). Empty for inference, and if TrainingInfo says what changes.
  std::function<bool(llvm::StringRef)> trains;
  /// Whether weight files may be missing. The runtime then generates random
  /// weights (--random-weights).
  bool allowAbsentWeights = false;
  /// Names and sizes of the mesh axes that split tensors, major to minor. The
  /// pipeline is not a mesh axis here; the member `pipeline` gives its size.
  /// Unset if the user gives no axes; the model's annotations then determine
  /// the mesh.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// Number of pipeline positions (--pp). A pipeline position is a group of
  /// ranks that run the same stages. Unset if the user gives no number; the
  /// model's annotations then determine it.
  std::optional<int64_t> pipeline;
  /// Number of pipeline stages that each pipeline position (group of ranks)
  /// runs (--virtual-stages).
  int64_t virtualStages = 1;
  /// Name of the ONNX device configuration to use (--configuration), or "none"
  /// to ignore all device annotations of the model. If empty, the import
  /// chooses a configuration as described in DevicePlan.h.
  std::string configuration;
  /// The user's command line without its --dim options, such as "pcc m.onnx".
  /// The error about dims without a size shows this text with example options
  /// appended.
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
