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
  /// Treatment of ONNX Dropout nodes. This option and operand 2 of a node
  /// (training_mode) decide whether the node drops elements:
  ///
  ///   option      training_mode is true    training_mode is false or absent
  ///   Inference   error (not supported)    keeps all elements
  ///   AsSaid      drops elements           keeps all elements
  ///   Never       keeps all elements       keeps all elements
  ///   Always      drops elements           drops elements
  ///
  /// pcc uses Inference if the user does not train the model (--train). In
  /// training, --dropout on selects Always, and --dropout off selects Never. In
  /// training without --dropout, pcc uses AsSaid.
  enum class Dropout { Inference, AsSaid, Never, Always };
  Dropout dropout = Dropout::Inference;
  /// Seed of the random numbers of Dropout nodes (--seed).
  uint64_t seed = 0;
  /// Whether to import the training step that the model's ONNX TrainingInfo
  /// describes. Without effect if the model has no TrainingInfo.
  bool trainingInfo = false;
  /// Function that takes the name of a weight and returns whether training may
  /// change the weight. The options --train-only and --freeze decide. For
  /// example, if the user only gives --freeze wte, the function returns false
  /// for "wte" and true for every other name.
  ///
  /// The member is empty in two cases: pcc compiles for inference, or the ONNX
  /// model itself defines the training step (ONNX TrainingInfo).
  std::function<bool(llvm::StringRef)> trains;
  /// True if the user gives --random-weights. A missing file with weights is
  /// then not an error, and the runtime generates random numbers for the
  /// weights of the missing file. If the member is false, a missing file with
  /// weights is an error.
  bool allowAbsentWeights = false;
  /// Names and sizes of the mesh axes, major to minor. For --mesh a=2,b=4, the
  /// list is a=2, b=4. For --dp 2 --tp 4, the list is dp=2, cp=1, tp=4, because
  /// an absent option means the size 1. The list does not contain the
  /// pipeline-parallel size (--pp), which is in the member `pipeline`. The
  /// member `mesh` is unset if the user gives none of the options --mesh, --dp,
  /// --cp and --tp. The annotations or the metadata of the ONNX model then
  /// determine the mesh.
  std::optional<std::vector<std::pair<std::string, int64_t>>> mesh;
  /// Pipeline-parallel size (--pp). pcc divides the ranks into this number of
  /// groups of equal size. Each group runs its own pipeline stages. The option
  /// --virtual-stages is the number of stages that each group runs. For
  /// example, the user gives --pp 2 and --virtual-stages 2 for 8 ranks. There
  /// are then 2 groups of 4 ranks. Each group runs 2 stages, so the pipeline
  /// has 4 stages.
  ///
  /// The member is unset if the user does not give --pp. The annotations of the
  /// ONNX nodes then state the stages of the pipeline. The number of groups is
  /// the number of stages, divided by --virtual-stages. If the annotations
  /// state no stage, there is one group.
  std::optional<int64_t> pipeline;
  /// Number of pipeline stages that each rank runs (--virtual-stages).
  int64_t virtualStages = 1;
  /// Name of the ONNX device configuration to use (--configuration). A device
  /// configuration is a named set of devices in the ONNX file. The annotations
  /// of the nodes refer to a configuration by its name. The name "none" means
  /// that pcc ignores all device annotations. If the name is empty, pcc chooses
  /// a configuration; the class DevicePlan documents the choice.
  std::string configuration;
  /// Command line of the user without its --dim options. If a dynamic dim has
  /// no size, the import reports an error. The error message shows a complete
  /// command line as an example. This example consists of the stored command
  /// line, the --dim options of the user, and added options that give a size to
  /// the other dynamic dims. For example, if only the dim seq has no size:
  ///
  ///   typed by the user    pcc m.onnx --dim batch=8 --tp 2
  ///   stored here          pcc m.onnx --tp 2
  ///   in the message       pcc m.onnx --tp 2 --dim batch=8 --dim seq=128
  std::string command;
};

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_BUILD_IMPORTOPTIONS_H
