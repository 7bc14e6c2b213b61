//===- WeightSource.h - the elements of weights ---------------------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
#define PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/Status.h"

namespace pcc::interpret {

/// Reads the weights of a module from the files that it refers to, or makes
/// seeded stand-ins where the module says that weights are absent. The files
/// are mapped while they are read and not kept.
class WeightSource {
public:
  explicit WeightSource(mlir::ModuleOp module);

  /// The whole logical tensor of a parameter, its transforms applied.
  runtime::Status read(llvm::StringRef parameter, graph::HostTensor &tensor);

private:
  mlir::ModuleOp module;
  std::string root;
  uint64_t seed = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
