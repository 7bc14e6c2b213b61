//===- FloatCasts.h - casts that change no number -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_FLOATCASTS_H
#define PCC_DIALECTS_GRAPH_FLOATCASTS_H

#include "mlir/IR/BuiltinTypes.h"

namespace pcc::graph {

/// Returns whether a cast from the float type `from` to the float type `to`
/// changes no finite number. Examples: true from bf16 to f32, false from f16 to
/// bf16 (fewer digits) and from bf16 to f16 (a smaller range).
inline bool representsAll(mlir::FloatType to, mlir::FloatType from) {
  return llvm::APFloat::isRepresentableBy(from.getFloatSemantics(),
                                          to.getFloatSemantics());
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_FLOATCASTS_H
