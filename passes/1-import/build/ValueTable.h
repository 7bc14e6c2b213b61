//===- ValueTable.h - ONNX value names and what they stand for ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
#define PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H

#include "mlir/IR/Value.h"
#include "passes/1-import/build/Weights.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pcc::onnx_import {

/// Tells for each name of a model which SSA value it is. Initializers are made
/// at their first use; values of nodes that could not be imported are missing.
class ValueTable {
public:
  explicit ValueTable(Weights &weights) : weights(weights) {}

  void define(llvm::StringRef name, mlir::Value value) {
    forget(name);
    known[name] = value;
  }
  void defineWeight(const onnx::Tensor &tensor) {
    forget(asRef(tensor.name));
    initializers[asRef(tensor.name)] = &tensor;
  }
  /// A sequence of tensors whose length is known.
  void defineSequence(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Value> elements) {
    forget(name);
    sequences[name].assign(elements.begin(), elements.end());
  }
  /// The elements of the sequence called `name`; null if there is none.
  const llvm::SmallVector<mlir::Value> *sequence(llvm::StringRef name) const {
    auto found = sequences.find(name);
    return found == sequences.end() ? nullptr : &found->second;
  }
  /// The value called `name`, made at the insertion point if it is an
  /// initializer that nobody used before. Null if there is none or it cannot be
  /// made, which the emitter is told.
  mlir::Value get(llvm::StringRef name, Emitter &emitter);
  /// The elements of `name` if they are known, without making a weight of it.
  mlir::DenseElementsAttr elements(llvm::StringRef name, Emitter &emitter);
  /// The value called `name` if it has been made, else null.
  mlir::Value lookup(llvm::StringRef name) const { return known.lookup(name); }
  /// The initializer called `name` if it has not been made, else null.
  const onnx::Tensor *initializer(llvm::StringRef name) const {
    return initializers.lookup(name);
  }
  /// Lets `name` stand for another form of the value that it stands for.
  void replace(llvm::StringRef name, mlir::Value value) { known[name] = value; }
  /// Whether `get` can find it.
  bool has(llvm::StringRef name) const {
    return known.contains(name) || initializers.contains(name) ||
           sequences.contains(name);
  }

  static llvm::StringRef asRef(std::string_view text) {
    return llvm::StringRef(text.data(), text.size());
  }

  Weights &weights;

private:
  /// Branches that were taken before may have used the name otherwise.
  void forget(llvm::StringRef name) {
    known.erase(name);
    initializers.erase(name);
    sequences.erase(name);
  }

  llvm::DenseMap<llvm::StringRef, mlir::Value> known;
  llvm::DenseMap<llvm::StringRef, const onnx::Tensor *> initializers;
  llvm::DenseMap<llvm::StringRef, llvm::SmallVector<mlir::Value>> sequences;
};

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_VALUETABLE_H
