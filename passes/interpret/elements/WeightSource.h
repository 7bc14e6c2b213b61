//===- WeightSource.h - elements of weights, read from files --------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
#define PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// Reads the weights of a module. A weight comes from the file that its
/// parameter refers to. If the weight is absent, it gets the seeded random
/// values that executables generate. Weights are not cached: each read opens
/// its file, so memory holds no more weights than the caller keeps.
class WeightSource {
public:
  /// Prepares to read the weights of `module`. The folder of weight files is
  /// the module's `graph.root`, or the working directory; the seed of random
  /// weights is `rank.random_weights`, or 0.
  explicit WeightSource(mlir::ModuleOp module);

  /// Reads the global tensor of a parameter, given by symbol name, and applies
  /// the parameter's transforms. Returns an error if there is no such
  /// parameter, if its file cannot be read, or if files cannot hold its element
  /// type.
  runtime::Status read(llvm::StringRef parameter, graph::HostTensor &tensor);

private:
  mlir::ModuleOp module;
  /// Folder to which the paths of weight files are relative.
  std::string root;
  /// Seed of the random values of absent weights.
  uint64_t seed = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
