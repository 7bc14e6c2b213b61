//===- ValueExplanation.h - sharding of one value, its origin and readers -===//

#ifndef PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
#define PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H

#include "dialects/dist/Decision.h"
#include "dialects/graph/StepParts.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace pcc::explain {

/// The effect of one mesh axis on a value, and the reason for it.
struct Origin {
  /// Name of the mesh axis whose effect on the value is explained.
  std::string axis;
  /// Effect of the mesh axis on the value: "dim 1 is split", "partial" (each
  /// rank has a partial result, such as one term of a sum), or "whole" (all
  /// ranks have the same elements).
  std::string what;
  /// Path through the program from the explained value to the op or value that
  /// decided the sharding. Each element is a text such as "matmul 'fc1'".
  std::vector<std::string> steps;
  /// Reason for the effect of the mesh axis on the value, as one line of text.
  /// Example: the user gives the option --shard 'y=[-,tp]'. This option
  /// requests that the mesh axis tp splits dim 1 of the value y. The reason why
  /// tp splits dim 1 of y is then the text "pinned by --shard 'y=[-,tp]'".
  std::string reason;
  /// Decisions of the sharding search that led to the effect of the mesh axis
  /// on the value. A decision is about one op and one mesh axis. It contains
  /// the chosen way to compute the op, the best other ways, and the costs of
  /// all these ways. The list is empty if no decision led to the effect, for
  /// example because the user fixed the sharding.
  std::vector<dist::Decision> decisions;
};

/// One reader of a value. A reader is an op that reads the value, or an output
/// of the model.
struct ValueUse {
  /// Description of one reader of a value. A reader is an op that reads the
  /// value, or an output of the model. For example, the description of a matmul
  /// contains the kind of the op, "matmul", and the name of its ONNX node.
  dist::Endpoint place;
  /// Number of the pipeline stage that reads the value. For a transfer between
  /// stages, the number of the receiving stage.
  int64_t stage = 0;
  /// Sharding in which one reader needs the value, as text. A reader is an op
  /// that reads the value, or an output of the model. Example: "[tp, -]" means
  /// that the mesh axis tp splits dim 0 and that no axis splits dim 1. The text
  /// is empty if the value has no sharding.
  std::string sharding;
  /// Communications that give the value the sharding that this reader needs, in
  /// execution order. Example: an all_gather along tp changes "[tp, -]" to "[-,
  /// -]". Empty if no communication is necessary.
  std::vector<dist::PricedStep> reshard;
};

/// Explanation of one value: its sharding, the reasons for it, and the ops that
/// read it.
struct ValueExplanation {
  /// Name of the value in the model.
  std::string name;
  /// The op, input or weight that produces the value.
  dist::Endpoint maker;
  /// Part of a training step that computes the value. Ops of all parts may come
  /// from one ONNX node. Forward for an input, a weight, and in inference.
  graph::StepPart part = graph::StepPart::Forward;
  /// Number of the pipeline stage that computes the value; 0 for an input.
  int64_t stage = 0;
  /// Element type, such as "f32".
  std::string dtype;
  /// Shape of the whole value, and shape of the buffer for the shard of one
  /// rank. A buffer may contain padding. Example: 4 ranks split 10 elements
  /// into 3, 3, 3 and 1, and all four buffers have the shape {3}.
  std::vector<int64_t> shape, localShape;
  /// Number of bytes of the value on one rank.
  int64_t localBytes = 0;
  /// Sharding of the value, as text. Example: "[tp, -]" means that the mesh
  /// axis tp splits dim 0 and that no axis splits dim 1. The text is empty if
  /// the value has no sharding.
  std::string sharding;
  /// Effects of the mesh axes on the value, and the reason for each effect. The
  /// list has one entry for each mesh axis whose size is greater than 1. The
  /// axis that splits tensors into microbatches has no entry. For example, one
  /// entry states that the axis dp splits dim 0, because the user has requested
  /// this sharding.
  std::vector<Origin> origins;
  /// Readers of the value. A reader may need the value in another sharding. The
  /// program then contains a reshard, which is an op that copies the value and
  /// gives the other sharding to the copy. The list contains the reader of the
  /// copy, and not the reshard.
  std::vector<ValueUse> uses;
};

/// Returns one explanation for each named value whose name matches `pattern`, a
/// name or a glob. Named values are inputs, outputs, weights, and result 0 of
/// each op, in the order of the program. If there are none, `pattern` selects
/// ONNX nodes by their names. In this case, the explained values are those that
/// the nodes compute in the forward pass, then those of the backward pass, and
/// at last those that update the weights of the nodes. `module` must be the IR
/// directly after phase 4-shard, because the next phase erases reshards.
std::vector<ValueExplanation> explainValues(mlir::ModuleOp module,
                                            llvm::StringRef pattern);

/// Returns the names of all weights, inputs, outputs, values and ONNX nodes in
/// `module`. A name may occur several times.
std::vector<std::string> namesOf(mlir::ModuleOp module);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_VALUEEXPLANATION_H
