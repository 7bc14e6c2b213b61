//===- ValueTable.cpp - table from ONNX value names to SSA values ---------===//

#include "passes/1-import/build/ValueTable.h"

using namespace mlir;

namespace pcc::onnx_import {

Value ValueTable::get(StringRef name, Emitter &emitter) {
  if (Value value = known.lookup(name))
    return value;
  const onnx::Tensor *tensor = initializers.lookup(name);
  if (!tensor)
    return emitter.invalid("uses '" + name + "', which is not defined");
  Value value = weights.make(*tensor, emitter);
  if (value)
    known[name] = value;
  return value;
}

DenseElementsAttr ValueTable::elements(StringRef name, Emitter &emitter) {
  if (Value value = known.lookup(name))
    if (DenseElementsAttr attr = emitter.known(value))
      return attr;
  if (const onnx::Tensor *tensor = initializers.lookup(name))
    return weights.elements(*tensor, emitter);
  Value value = known.lookup(name);
  return value ? weights.initialElements(value) : DenseElementsAttr();
}

} // namespace pcc::onnx_import
