//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, the description of a bundle (the directory
/// that pcc writes): one line of JSON. It has the fields that `pcc inspect
/// --json` prints, except that it has a list `programs` with one entry per
/// pipeline position instead of the list `ranks`.
///
/// Entries describe the parts of weights, inputs and outputs on all ranks by
/// layouts. runtime/program/Inspect.h computes the index ranges of each rank
/// from them. A layout lists the factors of each dim. A factor is its size and
/// the axes that split it, as [name, pre, size] (`pre`: product of the sizes of
/// the preceding sub-axes):
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]    dim 0 is [3, 64@tp] of tp=2
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
