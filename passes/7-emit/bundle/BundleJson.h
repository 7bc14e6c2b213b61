//===- BundleJson.h - the facts of a bundle as JSON -----------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
#define PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H

#include "passes/7-emit/program/ProgramWriter.h"

namespace pcc::emit {

/// The text of bundle.json: what `pcc inspect --json` prints, but with
/// `programs`, one per position, in place of `ranks`. Instead of index runs
/// they have layouts, from which runtime/program/Inspect.h derives the runs of
/// every rank:
///
///   "layout": [[[3], [64, ["tp", 1, 2]]], …]    per dim the factors, each its
///                                              size and the axes that split it
std::string bundleJson(const ModelFacts &facts,
                       const std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_BUNDLEJSON_H
