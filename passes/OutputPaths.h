//===- OutputPaths.h - early checks that outputs can be written -----------===//

#ifndef PCC_PASSES_OUTPUTPATHS_H
#define PCC_PASSES_OUTPUTPATHS_H

#include "passes/Options.h"
#include "passes/Outcome.h"

namespace pcc {

/// Checks whether the bundle (or annotated model), the dumps, the report and
/// the timelines could be written, so that a compilation does not fail at its
/// end. Creates nothing. Returns exit code 7 if a path cannot be written.
/// Returns exit code 2 if `options` asks for a timeline but writes no bundle.
Outcome checkOutputs(const CompileOptions &options);

/// Checks whether a changed copy of the model file `model` could be written to
/// `path`. A file that exists there must be another .onnx file, which would be
/// replaced. Returns exit code 7 if the copy cannot be written.
Outcome checkModelOutput(const std::string &path, const std::string &model);

} // namespace pcc

#endif // PCC_PASSES_OUTPUTPATHS_H
