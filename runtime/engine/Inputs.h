//===- Inputs.h - reads a rank's parts of the inputs ----------------------===//

#ifndef PCC_RUNTIME_ENGINE_INPUTS_H
#define PCC_RUNTIME_ENGINE_INPUTS_H

#include "runtime/device/Device.h"
#include "runtime/engine/RunOptions.h"

namespace pcc::runtime {

/// Checks name, shape and type of every input of the model (exit code 10), also
/// of those that this rank does not read, so that all ranks agree. Then fills
/// this rank's input buffers of all microbatches; padding becomes zero.
Status readInputs(const program::ProgramT &program, const Mesh &mesh,
                  const Coordinates &at, const RunOptions &options,
                  const BufferTable &buffers);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_INPUTS_H
