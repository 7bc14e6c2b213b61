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
  /// Further directory for files of external weights (--external-data-root),
  /// besides the model's own directory. Empty if the user gives none.
  std::string externalDataRoot;
  /// Treatment of Dropout nodes. A node itself may request to drop elements, by
  /// its input training_mode.
  ///
  ///   Inference  drops no elements; a node that requests it is unsupported
  ///   AsSaid     drops elements only in nodes that request it
  ///   Never      drops no elements
  ///   Always     drops elements in every node
  enum class Dropout { Inference, AsSaid, Never, Always };
  Dropout dropout = Dropout::Inference;
  /// Seed of the random numbers of Dropout nodes (--seed).
  uint64_t seed = 0;
  /// Whether to import the training step that the model's ONNX TrainingInfo
  /// describes. Without effect if the model has no TrainingInfo.
  bool trainingInfo = false;
  /// Function that tells whether the user lets training change the weight of a
  /// given name (--train-only, --freeze). Empty if pcc compiles for inference,
  /// or if the model itself defines the training step (TrainingInfo).
  std::function<bool(llvm::StringRef)> trains;
  /// Whether weight files may be missing. The runtime then generates random
  /// weights (--random-weights).
  bool allowAbsentWeights = false;
  /// Names and sizes of the mesh axes that split tensors, major to minor. The
  /// pipeline is not an axis of this mesh. If unset, the model's annotations
  /// determine the mesh.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// Pipeline-parallel size (--pp). The ranks are divided into this number of
  /// groups, and each group runs its own pipeline stages. For example, --pp 2
  /// divides 8 ranks into 2 groups of 4 ranks. With 4 stages, each group then
  /// runs 2 stages. If unset, the model's annotations determine the number.
  std::optional<int64_t> pipeline;
  /// Number of pipeline stages that each rank runs (--virtual-stages).
  int64_t virtualStages = 1;
  /// Name of the ONNX device configuration to use (--configuration). A device
  /// configuration is a named set of devices in the ONNX file. The annotations
  /// of the nodes refer to a configuration by its name. The name "none" means
  /// that pcc ignores all device annotations. If the name is empty, pcc chooses
  /// a configuration; the class DevicePlan documents the choice.
  std::string configuration;
  /// The user's command line without its --dim options, such as "pcc m.onnx",
  /// for error messages.
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
