//===- WeightSource.h - elements of weights, read from files --------------===//

#ifndef PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
#define PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "status/Status.h"

namespace pcc::interpret {

/// Reads the weights of a module from files. Some weights are in no file. The
/// module may contain a constant for such a weight, and then each element of
/// the weight is this constant. If the module contains no constant, the
/// elements are random numbers. A compiled executable generates the same random
/// numbers.
///
/// The class keeps no weights in memory. Each call of read() opens the file
/// again.
class WeightSource {
public:
  /// Stores `module`. Reads no weights, but reads two attributes of `module`:
  ///
  ///  - `graph.root` is the path of the directory with the weight files. If
  ///    `module` does not have this attribute, the directory is the working
  ///    directory.
  ///  - `rank.random_weights` is the seed of a random number generator. It
  ///    generates the elements of weights that are in no file. If `module` does
  ///    not have this attribute, the seed is 0.
  explicit WeightSource(mlir::ModuleOp module);

  /// Sets `tensor` to the global tensor of the parameter with the symbol name
  /// `parameter`. The elements come from a file or from a random generator, or
  /// are all equal to one number. A parameter may have transforms, such as a
  /// transpose. The function applies the transforms to elements from a file and
  /// to random elements. Returns an error in three cases:
  ///
  ///  - The module has no parameter with this name.
  ///  - The file of the parameter cannot be read.
  ///  - The elements come from a file or from a random generator, and files
  ///    cannot hold elements of their type.
  Status read(llvm::StringRef parameter, graph::HostTensor &tensor);

private:
  mlir::ModuleOp module;
  /// Directory to which the paths of weight files are relative.
  std::string root;
  /// Seed of the random number generator. A weight that is in no file, and for
  /// which the module contains no constant, gets random elements.
  uint64_t seed = 0;
};

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_ELEMENTS_WEIGHTSOURCE_H
