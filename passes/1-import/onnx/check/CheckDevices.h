//===- CheckDevices.h - checks of multi-device annotations ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the ONNX multi-device annotations of a model by these rules, which do
/// not depend on tensor shapes:
///
///  - Device configurations have distinct, non-empty names and 1 to 65,536
///    devices. Either all devices of a configuration have a name or none has.
///  - A node refers only to existing configurations, at most once to each.
///  - A node shards only its own inputs and outputs, each at most once.
///  - Pipeline stages are not negative.
///  - Each entry of a device list is a device number or the key of a device
///    group (devices that hold the same shard). All entries of a list stand for
///    equally many devices. No device occurs twice.
///  - No dim is split twice, and there are no more shards than devices.
///  - A device list is empty or has one entry per shard. A tensor with a single
///    shard may have a list of any length.
///
/// Returns the first violation, with exit code 6 and the name of the node.
Status checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
