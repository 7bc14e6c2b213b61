//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, one line of JSON. It has the fields that
/// `pcc inspect --json` prints, but in place of `ranks` a list `programs` with
/// one entry per position. Entries describe the parts of weights, inputs and
/// outputs by layouts, from which runtime/program/Inspect.h derives the index
/// ranges of every rank. A layout lists the factors of each dim. A factor is
/// its size and the axes that split it, as [name, pre, size]:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]    dim 0 is [3, 64@tp] of tp=2
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
