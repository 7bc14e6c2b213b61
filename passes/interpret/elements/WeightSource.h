//===- WeightSource.h - elements of weights, read from files --------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
#define PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

namespace pcc::interpret {

/// Reads the weights of a module from their files. An absent weight gets seeded
/// random values, equal to those that executables generate. Weights are not
/// cached: each read opens the file.
class WeightSource {
public:
  /// Prepares to read the weights of `module`. The directory of weight files is
  /// the module's `graph.root` or, if absent, the working directory. The seed
  /// of random weights is `rank.random_weights` or, if absent, 0.
  explicit WeightSource(mlir::ModuleOp module);

  /// Reads the global tensor of the parameter with the symbol name `parameter`
  /// into `tensor`. Applies the parameter's transforms, such as a transpose.
  /// Errors:
  ///  - There is no such parameter.
  ///  - Its file cannot be read.
  ///  - Files cannot hold its element type.
  Status read(llvm::StringRef parameter, graph::HostTensor &tensor);

private:
  mlir::ModuleOp module;
  /// Directory to which the paths of weight files are relative.
  std::string root;
  /// Seed of the random values for absent weights.
  uint64_t seed = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
