//===- CheckDevices.h - checks of multi-device annotations ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks these rules for ONNX multi-device annotations, without tensor shapes:
///
///  - A device configuration (named set of devices) has a unique name, 1 to
///    65,536 devices, and a name for each device or for none.
///  - Each annotation of a node refers to a different existing configuration,
///    and shards operands and results of the node, each at most once.
///  - A pipeline stage is not negative. A number of shards is at least 1.
///  - A sharding splits no dim twice, and has at most one shard per device.
///  - A device list is empty or has one entry per shard. With only one shard,
///    the list may have any length. An entry is a device or the key of a group.
///  - All entries stand for equally many devices. No device occurs twice.
///  - A group has devices and a unique key that the device list contains.
///
/// Returns the first error, with the exit code CannotMeet.
Status checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
