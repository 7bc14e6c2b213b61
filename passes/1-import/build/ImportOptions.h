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
  /// Directory in which pcc looks for files of external weights, in addition to
  /// the model's own directory (--external-data-root). Empty if the user gives
  /// none.
  std::string externalDataRoot;
  /// Treatment of ONNX Dropout nodes (--train and --dropout). In the table,
  /// training_mode is operand 2 of the node:
  ///
  ///   option      training_mode is true    training_mode is false or absent
  ///   Inference   error (not supported)    keeps all elements
  ///   AsSaid      drops elements           keeps all elements
  ///   Never       keeps all elements       keeps all elements
  ///   Always      drops elements           drops elements
  enum class Dropout { Inference, AsSaid, Never, Always };
  Dropout dropout = Dropout::Inference;
  /// Seed of the random numbers of Dropout nodes (--seed).
  uint64_t seed = 0;
  /// Whether to import the training step that the model's ONNX TrainingInfo
  /// describes. Without effect if the model has no TrainingInfo.
  bool trainingInfo = false;
  /// Function that returns whether training may change the weight of a given
  /// name (--train-only and --freeze). Empty for inference, and if the ONNX
  /// model defines the training step itself (TrainingInfo).
  std::function<bool(llvm::StringRef)> trains;
  /// True if the user gives --random-weights. A missing file with weights is
  /// then not an error, and the runtime generates random numbers for the
  /// weights of the missing file. If the member is false, a missing file with
  /// weights is an error.
  bool allowAbsentWeights = false;
  /// Names and sizes of the mesh axes, major to minor, from --mesh, --dp, --cp
  /// and --tp, without the pipeline-parallel size. Unset if the user gives none
  /// of these options; the model then determines the mesh.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// Pipeline-parallel size (--pp): the number of groups of ranks. Each group
  /// runs --virtual-stages pipeline stages. If unset, the stages in the model's
  /// annotations determine the number.
  std::optional<int64_t> pipeline;
  /// Number of pipeline stages that each rank runs (--virtual-stages).
  int64_t virtualStages = 1;
  /// Name of the ONNX device configuration to use (--configuration). A device
  /// configuration is a named set of devices in the ONNX file. The annotations
  /// of the nodes refer to a configuration by its name. With the name "none",
  /// pcc ignores all device annotations. With an empty name, pcc uses the
  /// configuration that the model's metadata or annotations name.
  std::string configuration;
  /// Command line of the user without its --dim options. May be empty. If dims
  /// have no size, importOnnx returns an error that shows this command with the
  /// missing options added, such as "pcc model.onnx --dim batch=8".
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
