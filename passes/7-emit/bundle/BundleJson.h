//===- BundleJson.h - bundle.json: description of a bundle ----------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// Returns the text of bundle.json, the description of a bundle (the directory
/// that pcc writes): one line of JSON. The fields are those that `pcc inspect
/// --json` prints, with one difference: the list `programs`, with one entry per
/// pipeline position, replaces the list `ranks`.
///
/// A layout describes which part of a weight, input or output each rank holds.
/// runtime/program/Inspect.h computes the index ranges of each rank from the
/// layout. A layout lists the factors of each dim (a dim of size 192 may be 3 ·
/// 64). A factor is written as its size and the mesh axes that split it, each
/// as [name, pre, size]. `pre` is the product of the sizes of the axis's
/// preceding sub-axes:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]    dim 0 is [3, 64@tp] of tp=2
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
