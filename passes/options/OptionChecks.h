//===- OptionChecks.h - options that contradict each other or the model ---===//

#ifndef PCC_PASSES_OPTIONS_OPTIONCHECKS_H
#define PCC_PASSES_OPTIONS_OPTIONCHECKS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Options.h"
#include "sharding/Mesh.h"
#include "status/Status.h"

namespace pcc {

/// Checks the options that can be checked before pcc reads the model. Returns
/// an error with exit code 2 if an option is wrong or contradicts another
/// option. Returns an error with exit code 6 if pcc cannot do what the options
/// request.
Status checkOptions(const CompileOptions &options);

/// Checks the options that can be checked without the model. If pcc continues
/// from a dump, `options` must also contain the options that the dump records.
/// Returns the errors of checkOptions().
Status checkAllOptions(const CompileOptions &options);

/// Checks that the model `module` has the input and the dim in each
/// --batch-dim, that no two --shard ask for different shardings of the same
/// value, and that --tf32 has an effect. If not, returns an error with exit
/// code 2.
Status checkAgainstModel(mlir::ModuleOp module, const CompileOptions &options);

/// Checks that the mesh of a stage has the axes over which each sharding preset
/// (--preset) splits tensors. Returns an error with exit code 6 if an axis is
/// absent or has the size 1. The presets megatron and sequence need the axis
/// tp. The presets fsdp, zero1, zero2 and zero3 need an axis other than tp and
/// the time axis. checkAllOptions() checks the preset `expert`.
Status checkPresets(const CompileOptions &options, const dist::Mesh &mesh);

} // namespace pcc

#endif // PCC_PASSES_OPTIONS_OPTIONCHECKS_H
