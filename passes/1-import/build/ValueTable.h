//===- ValueTable.h - table from ONNX value names to SSA values -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H

#include "mlir/IR/Value.h"
#include "passes/1-import/build/Weights.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::onnx_import {

/// Maps each ONNX value name of a model to one of these:
///
///  - an SSA value
///  - an initializer, which gets an SSA value at its first use
///  - a sequence of SSA values
///
/// The table does not copy the names. Each name in the table points to the text
/// of the name in the ONNX model, so the model must outlive the table.
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
  /// Returns the SSA value of the ONNX name `name`. If `name` is the name of an
  /// initializer that has no SSA value yet, the function first creates an SSA
  /// value that has the elements of the initializer. The function records an
  /// error in `emitter` and returns null in each of these cases:
  ///
  ///  - The table has neither an SSA value nor an initializer for `name`.
  ///  - The function cannot create the SSA value. For example, pcc does not
  ///    support the element type of the initializer.
  mlir::Value get(llvm::StringRef name, Emitter &emitter);
  /// Returns the elements of the ONNX tensor `name` if the elements are known
  /// at compile time, and null otherwise. For example, the elements are unknown
  /// if the tensor depends on an input of the model, or if the tensor is a
  /// weight of more than 16384 elements. Creates no SSA value.
  ///
  /// Returns null with an error in `emitter` if the elements of an initializer
  /// cannot be read, or if pcc does not support their element type.
  mlir::DenseElementsAttr elements(llvm::StringRef name, Emitter &emitter);
  /// Returns the SSA value for the ONNX name `name` if one exists already, else
  /// null.
  mlir::Value lookup(llvm::StringRef name) const { return known.lookup(name); }
  /// Returns the initializer called `name`, whether or not it has an SSA value;
  /// null if no initializer has this name.
  const onnx::Tensor *initializer(llvm::StringRef name) const {
    return initializers.lookup(name);
  }
  /// Makes `value` the SSA value of the ONNX name `name`, in place of the old
  /// SSA value. Both SSA values must have the same elements. For example,
  /// `value` may be the result of a `dist.pin` of the old SSA value. A
  /// `dist.pin` is an op that returns its operand unchanged and requests a
  /// sharding of the result.
  ///
  /// If `name` is the name of an ONNX initializer, the initializer also stays
  /// in the table. The function elements() can therefore still read the
  /// elements of the initializer.
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
