//===- OutputPaths.h - where a compilation writes -------------------------===//

#ifndef PCC_PASSES_OUTPUTPATHS_H
#define PCC_PASSES_OUTPUTPATHS_H

#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Looks, before the long work, whether the bundle, the dumps and the report
/// could be written. Exit code 7 if not; creates nothing.
Outcome checkOutputs(const CompileOptions &options);

/// Whether a model made of `model` could be written to `path`: a free name, or
/// the place of another .onnx file. Exit code 7 if not.
Outcome checkModelOutput(const std::string &path, const std::string &model);

} // namespace pcc

#endif // PCC_PASSES_OUTPUTPATHS_H
