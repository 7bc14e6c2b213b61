//===- OutputPaths.h - early checks that outputs can be written -----------===//

#ifndef PCC_PASSES_OUTPUTPATHS_H
#define PCC_PASSES_OUTPUTPATHS_H

#include "passes/Options.h"
#include "status/Status.h"

namespace pcc {

/// Checks whether all output files of a compilation can be written, so that the
/// compilation does not fail at its end. Checks the bundle or annotated model,
/// the dumps, the report, and the timelines (--schedule-svg, --trace). Creates
/// nothing. Errors:
///  - exit code 7: a path cannot be written;
///  - exit code 2: `options` requests a timeline, but the compilation writes no
///    bundle.
Status checkOutputs(const CompileOptions &options);

/// Checks whether a changed copy of the model file `model` can be written to
/// `path`. An existing file at `path` must be an .onnx file other than `model`,
/// because the copy will replace it. Returns exit code 7 if the copy cannot be
/// written.
Status checkModelOutput(const std::string &path, const std::string &model);

} // namespace pcc

#endif // PCC_PASSES_OUTPUTPATHS_H
