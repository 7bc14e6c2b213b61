//===- CheckDevices.h - checks of multi-device annotations ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the multi-device annotations of `model` as far as this is possible
/// without tensor shapes: device configurations, pipeline stages, split dims,
/// device lists and device groups. Returns the first error, with the exit code
/// CannotMeet.
Status checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
