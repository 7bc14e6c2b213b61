//===- ValueTable.h - table from ONNX value names to SSA values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H

#include "mlir/IR/Value.h"
#include "passes/1-import/build/Weights.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::onnx_import {

/// Maps each value name of a model to an SSA value, an initializer or a
/// sequence of SSA values. An initializer becomes an SSA value at its first
/// use. Outputs of nodes that could not be imported have no entry.
///
/// The names are views of the model, which must outlive the table.
class ValueTable {
public:
  /// Creates an empty table; `weights` must outlive it.
  explicit ValueTable(Weights &weights) : weights(weights) {}

  /// Defines `name` as `value`, and drops an earlier definition.
  void define(llvm::StringRef name, mlir::Value value) {
    forget(name);
    known[name] = value;
  }
  /// Defines the name of `tensor` as an initializer. `tensor` must outlive the
  /// table.
  void defineWeight(const onnx::Tensor &tensor) {
    forget(asRef(tensor.name));
    initializers[asRef(tensor.name)] = &tensor;
  }
  /// Defines `name` as a sequence of tensors. The length of the sequence is
  /// known, so no op represents the sequence.
  void defineSequence(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Value> elements) {
    forget(name);
    sequences[name].assign(elements.begin(), elements.end());
  }
  /// Returns the elements of the sequence `name`; null if `name` is no
  /// sequence.
  const llvm::SmallVector<mlir::Value> *sequence(llvm::StringRef name) const {
    auto found = sequences.find(name);
    return found == sequences.end() ? nullptr : &found->second;
  }
  /// Returns the value `name`. An initializer is created at the insertion point
  /// of `emitter` at its first use. Returns null, with an error in `emitter`,
  /// if `name` is undefined or cannot be created.
  mlir::Value get(llvm::StringRef name, Emitter &emitter);
  /// Returns the elements of `name` if they are known during the import, else
  /// null. An initializer is read without becoming a weight.
  mlir::DenseElementsAttr elements(llvm::StringRef name, Emitter &emitter);
  /// Returns the value `name` if it exists already, else null.
  mlir::Value lookup(llvm::StringRef name) const { return known.lookup(name); }
  /// Returns the initializer `name`, whether or not it has been used; null if
  /// there is none.
  const onnx::Tensor *initializer(llvm::StringRef name) const {
    return initializers.lookup(name);
  }
  /// Redefines `name` as `value`, which equals the earlier value but has
  /// another form, such as a `dist.pin` of it. Unlike `define`, keeps an
  /// initializer of the name.
  void replace(llvm::StringRef name, mlir::Value value) { known[name] = value; }
  /// Returns whether `name` is defined as a value, an initializer or a
  /// sequence.
  bool has(llvm::StringRef name) const {
    return known.contains(name) || initializers.contains(name) ||
           sequences.contains(name);
  }

  /// Converts a name of the model to a StringRef of the same bytes.
  static llvm::StringRef asRef(std::string_view text) {
    return llvm::StringRef(text.data(), text.size());
  }

  /// Creator of the values of initializers.
  Weights &weights;

private:
  /// Drops all definitions of `name`. A branch of an If may reuse a name that
  /// an earlier branch has defined.
  void forget(llvm::StringRef name) {
    known.erase(name);
    initializers.erase(name);
    sequences.erase(name);
  }

  /// Values that exist, by name.
  llvm::DenseMap<llvm::StringRef, mlir::Value> known;
  /// Initializers by name, including those that are values already.
  llvm::DenseMap<llvm::StringRef, const onnx::Tensor *> initializers;
  /// Elements of sequences, by name.
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<mlir::Value>> sequences;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
