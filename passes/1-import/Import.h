//===- Import.h - from an ONNX file to a module of graph ops ----*- C++ -*-===//

#ifndef PCC_PASSES_1_IMPORT_IMPORT_H
#define PCC_PASSES_1_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
  bool ownTraining = false;
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

/// An op that pcc does not know, or whose form it does not know.
struct UnsupportedOp {
  std::string op;
  std::string domain;
  /// Labels of the nodes, in the order of the graph.
  std::vector<std::string> nodes;
};

/// Why a model cannot be imported. `message` is one line that begins in lower
/// case; `notes` are further lines, each a cause.
struct ImportError {
  /// 2 options that do not fit the model, 3 not a valid model, 4 unsupported, 5
  /// unbound dims or contradicting shapes, 6 annotations that cannot be met, 7
  /// the operating system refuses.
  int exitCode = 3;
  std::string message;
  std::vector<std::string> notes;
  /// All of them, if exitCode is 4 and ops are the reason; what an input or an
  /// initializer is that pcc lacks is in the message.
  std::vector<UnsupportedOp> unsupported;
};

/// Names of the module's attributes that the import sets.
inline constexpr llvm::StringLiteral modelAttrName = "graph.model";
inline constexpr llvm::StringLiteral rootAttrName = "graph.root";
inline constexpr llvm::StringLiteral boundDimsAttrName = "graph.bound_dims";
/// Where annotations place nodes: their names and stages. `pipe.stages` then
/// counts the stages, and `dist.mesh` has the axes if the annotations say them.
inline constexpr llvm::StringLiteral stageOfNodesAttrName =
    "pipe.stage_of_nodes";

/// Reads the ONNX file at `path` into a module with one `graph.parameter` per
/// weight that is used and a function @main:
///
///   module attributes {graph.bound_dims = {batch = 8}, graph.model = "m.onnx",
///                      graph.root = "/models"} {
///     graph.parameter @w : tensor<4x4xf32> = <"m.onnx", 96, 64, …>
///     func.func @main(%x: tensor<8x4xf32> {graph.name = "x",
///         graph.dims = ["batch", ""]}) -> (tensor<8x4xf32> {graph.name = "y"})
///
/// All shapes are static and values that only depend on shapes are constants.
/// The op that makes a node's output carries the output's name as `graph.name`
/// and the node's name as its location. Weight files are looked up, never read.
///
/// On failure `error` says why and nothing is printed.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importOnnx(llvm::StringRef path, const ImportOptions &options,
           mlir::MLIRContext *context, ImportError &error);

} // namespace pcc

#endif // PCC_PASSES_1_IMPORT_IMPORT_H
