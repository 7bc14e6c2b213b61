//===- GradientBuilder.h - builds the gradient of one op ------------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H

#include "dialects/graph/TensorBuilder.h"

namespace pcc::graph {

/// Builds ops of the backward pass in front of `before`, at the location of the
/// op whose gradient they are.
class GradientBuilder : public TensorBuilder {
public:
  /// `isWanted` says for a value whether anybody asks for its gradient.
  GradientBuilder(mlir::Operation *op, mlir::Operation *before,
                  llvm::function_ref<bool(mlir::Value)> isWanted)
      : TensorBuilder(before), isWanted(isWanted) {
    location = op->getLoc();
  }

  /// Whether the gradient of `operand` is asked for.
  bool wants(mlir::Value operand) const { return isWanted(operand); }

protected:
  void finish(mlir::Operation *) override {}

private:
  llvm::function_ref<bool(mlir::Value)> isWanted;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_GRADIENTBUILDER_H
