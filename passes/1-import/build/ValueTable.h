//===- ValueTable.h - table from ONNX value names to SSA values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H

#include "mlir/IR/Value.h"
#include "passes/1-import/build/Weights.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::onnx_import {

/// Maps each ONNX value name to an SSA value, an initializer or a sequence of
/// SSA values. An initializer gets an SSA value at its first use. The names
/// point into the ONNX model, which must outlive the table.
class ValueTable {
public:
  /// Creates an empty table. `weights`, which creates the SSA values of
  /// initializers, must outlive the table.
  explicit ValueTable(Weights &weights) : weights(weights) {}

  /// Defines the ONNX name `name` as the SSA value `value`. An earlier
  /// definition of the name is dropped.
  void define(llvm::StringRef name, mlir::Value value) {
    forget(name);
    known[name] = value;
  }
  /// Adds the ONNX initializer `tensor` to the table, under the name
  /// `tensor.name`. An earlier definition of this name is dropped. This
  /// function creates no SSA value. The first call of get() with this name
  /// creates the SSA value of the initializer. `tensor` must outlive the table.
  void defineWeight(const onnx::Tensor &tensor) {
    forget(asRef(tensor.name));
    initializers[asRef(tensor.name)] = &tensor;
  }
  /// Defines `name` as an ONNX sequence of the tensors `elements`. No op is
  /// created.
  void defineSequence(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Value> elements) {
    forget(name);
    sequences[name].assign(elements.begin(), elements.end());
  }
  /// Returns the elements of the ONNX sequence `name`; null if `name` is not
  /// defined as a sequence.
  const llvm::SmallVector<mlir::Value> *sequence(llvm::StringRef name) const {
    auto found = sequences.find(name);
    return found == sequences.end() ? nullptr : &found->second;
  }
  /// Returns the SSA value of the ONNX name `name`. Creates an SSA value for an
  /// initializer that has none yet. Returns null, with an error in `emitter`,
  /// if the name is unknown or the creation fails.
  mlir::Value get(llvm::StringRef name, Emitter &emitter);
  /// Returns the elements of the ONNX tensor `name` if they are known at
  /// compile time. Otherwise returns null. Creates no SSA value. Returns null
  /// with an error in `emitter` if the elements of an initializer cannot be
  /// read.
  mlir::DenseElementsAttr elements(llvm::StringRef name, Emitter &emitter);
  /// Returns the SSA value for the ONNX name `name` if one exists already, else
  /// null.
  mlir::Value lookup(llvm::StringRef name) const { return known.lookup(name); }
  /// Returns the initializer called `name`, whether or not it has an SSA value;
  /// null if no initializer has this name.
  const onnx::Tensor *initializer(llvm::StringRef name) const {
    return initializers.lookup(name);
  }
  /// Replaces the SSA value of the ONNX name `name` by `value`, which must have
  /// the same elements. An initializer with this name stays in the table, so
  /// that elements() can still read it.
  void replace(llvm::StringRef name, mlir::Value value) { known[name] = value; }
  /// Returns whether `name` is defined as an SSA value, an initializer or a
  /// sequence.
  bool has(llvm::StringRef name) const {
    return known.contains(name) || initializers.contains(name) ||
           sequences.contains(name);
  }

  /// Converts `text` to a StringRef of the same bytes, without a copy.
  static llvm::StringRef asRef(std::string_view text) {
    return llvm::StringRef(text.data(), text.size());
  }

  /// Object that creates the SSA values of initializers.
  Weights &weights;

private:
  /// Removes all definitions of `name`, so that a new definition may follow.
  /// For example, both branches of an If may define the same name.
  void forget(llvm::StringRef name) {
    known.erase(name);
    initializers.erase(name);
    sequences.erase(name);
  }

  /// SSA values that exist so far, by ONNX name.
  llvm::DenseMap<llvm::StringRef, mlir::Value> known;
  /// Initializers by ONNX name, whether or not they have an SSA value in
  /// `known`.
  llvm::DenseMap<llvm::StringRef, const onnx::Tensor *> initializers;
  /// Elements of each ONNX sequence, by the sequence's name.
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<mlir::Value>> sequences;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
