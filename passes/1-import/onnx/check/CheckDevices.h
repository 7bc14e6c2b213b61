//===- CheckDevices.h - checks of multi-device annotations ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the ONNX multi-device annotations (IR version 11) of a model for
/// everything that needs no tensor shapes. Nodes in subgraphs and in functions
/// are included. The rules are:
///  - Device configurations have distinct, non-empty names and 1 to 65,536
///    devices. Either all devices of a configuration have a name or none has.
///  - A node refers only to existing configurations, and at most once to each.
///    Within one configuration it annotates a tensor at most once, and only its
///    own inputs and outputs. Pipeline stages are not negative.
///  - Each entry of a device list is a device number or the key of a device
///    group. Groups have equal sizes, and no device occurs twice.
///  - No dim is split twice, and each split dim has at least one shard. There
///    are no more shards than devices.
///  - A device list is empty or has one entry per shard. The exception is a
///    tensor with one shard, whose list may have any length: all listed devices
///    hold the whole tensor.
/// Returns the first violation, with exit code 6 and the name of the node.
Status checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
