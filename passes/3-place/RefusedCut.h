//===- RefusedCut.h - why the model cannot be cut before a name -----------===//

#ifndef PCC_PASSES_3_PLACE_REFUSEDCUT_H
#define PCC_PASSES_3_PLACE_REFUSEDCUT_H

#include "passes/3-place/ForwardChain.h"

namespace pcc::place {

/// Returns the reason why a stage cannot begin at `name`, a name in --stage-at,
/// and up to three nodes near it at which one can. The text is the end of an
/// error message. Example:
///
///   it is an input; a stage can begin at 'embed', 'norm' or 'up'
std::string describeRefusedCut(mlir::func::FuncOp function,
                               const ForwardChain &chain, llvm::StringRef name);

} // namespace pcc::place

#endif // PCC_PASSES_3_PLACE_REFUSEDCUT_H
