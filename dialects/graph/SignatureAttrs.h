//===- SignatureAttrs.h - attributes of the arguments and results ---------===//

#ifndef PCC_DIALECTS_GRAPH_SIGNATUREATTRS_H
#define PCC_DIALECTS_GRAPH_SIGNATUREATTRS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pcc::graph {

/// Copy of the attributes of all arguments and results of a function, for many
/// changes at once. write() stores the changes in the function.
class SignatureAttrs {
public:
  /// Copies the attributes of all arguments and results of `function`. The
  /// caller can then change the copy. The function write() stores the changed
  /// copy in `function`. The type of `function` must not change before the call
  /// of write().
  explicit SignatureAttrs(mlir::func::FuncOp function);

  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    arguments[index].set(name, value);
  }
  void removeArg(unsigned index, llvm::StringRef name) {
    arguments[index].erase(name);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }

  /// Stores the copied attributes in the function. A SignatureAttrs contains a
  /// copy of the attributes of all arguments and results of one function. The
  /// copied attributes replace all attributes of these arguments and results.
  void write();

private:
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::NamedAttrList, 0> arguments, results;
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_SIGNATUREATTRS_H
