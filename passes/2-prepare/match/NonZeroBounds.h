//===- NonZeroBounds.h - how many elements of a row can be other than 0 ---===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
#define PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// The most elements of `value` along `dim`, at any one place of its other
/// dims, that can differ from 0; the size of the dim where nothing is known.
/// What is multiplied by 0 counts as 0, whatever it is.
///
///   one_hot of depth 8                       1 of 8
///   2 of them, weighed and added             2 of 8
///   2 updates scattered into zeros           2 of 8
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
