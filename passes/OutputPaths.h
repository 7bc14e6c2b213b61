//===- OutputPaths.h - early checks that outputs can be written -----------===//

#ifndef PCC_PASSES_OUTPUTPATHS_H
#define PCC_PASSES_OUTPUTPATHS_H

#include "passes/Options.h"
#include "runtime/base/claim/FileClaims.h"
#include "status/Status.h"

namespace pcc {

/// Checks whether all output files of a compilation can be written. Creates
/// nothing. Errors:
///  - exit code 7: a path cannot be written;
///  - exit code 2: `options` requests a timeline (--schedule-svg, --trace,
///    --html), but no bundle.
Status checkOutputs(const CompileOptions &options);

/// Adds the files that `options` name as inputs to `claims`: the model, the
/// cluster file and the schedule.
void addInputs(const CompileOptions &options, runtime::FileClaims &claims);

/// Returns the files that the compilation reads and writes, as far as the
/// options tell. The names of weight files are in the model.
runtime::FileClaims claimsOf(const CompileOptions &options);

/// Checks whether a file can be created or replaced at `path`. Returns exit
/// code 7 if it cannot.
Status checkFile(const std::string &path);

/// Checks whether the page of --html can be written, if it is requested.
/// Returns exit code 7 if it cannot.
Status checkPage(const CompileOptions &options);

/// Checks whether a changed copy of a model file can be written to `path`. A
/// file that exists at `path` must be an .onnx file. Returns exit code 7 if the
/// copy cannot be written.
Status checkModelOutput(const std::string &path);

} // namespace pcc

#endif // PCC_PASSES_OUTPUTPATHS_H
