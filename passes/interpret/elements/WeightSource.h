//===- WeightSource.h - elements of weights, read from files --------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
#define PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

namespace pcc::interpret {

/// Reads the weights of a module from files. The elements of a weight without a
/// file are all equal to a fill value, or are random. A compiled executable
/// generates the same random numbers. Each call of read() opens the file again.
class WeightSource {
public:
  /// Stores `module`, and reads two attributes. `graph.root` is the directory
  /// of the weight files (default: the working directory).
  /// `rank.random_weights` is the seed for weights that are in no file
  /// (default: 0).
  explicit WeightSource(mlir::ModuleOp module);

  /// Sets `tensor` to the global tensor of `parameter`, after its transforms,
  /// such as a transpose. Returns an error if the module has no such parameter,
  /// if its file cannot be read, or if files cannot hold its element type.
  Status read(llvm::StringRef parameter, graph::HostTensor &tensor);

private:
  mlir::ModuleOp module;
  /// Directory to which the paths of weight files are relative.
  std::string root;
  /// Seed of the random number generator. A weight gets random elements if it
  /// has neither a file nor a fill value.
  uint64_t seed = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
