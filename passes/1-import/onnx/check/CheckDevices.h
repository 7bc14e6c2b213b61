//===- CheckDevices.h - checks of multi-device annotations ----------------===//

#ifndef PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
#define PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H

#include "passes/1-import/onnx/model/Model.h"
#include "status/Status.h"

namespace pcc::onnx {

/// Checks the ONNX multi-device annotations of a model. An annotation of a node
/// refers to one device configuration (a set of devices with a name). The
/// annotation gives the pipeline stage of the node and the shardings of the
/// node's tensors. A sharding gives the split dims of one tensor and a device
/// list. The device list has one entry per shard. The entry is either the
/// number of the device that holds the shard, or the key (a number) of a device
/// group. A device group is a set of devices that all hold the same shard. The
/// function checks these rules, which do not depend on tensor shapes:
///
///  - Device configurations have distinct, non-empty names and 1 to 65,536
///    devices. Either all devices of a configuration have a name or none has.
///  - Each annotation of a node refers to a device configuration of the model.
///    Two annotations of one node refer to different configurations.
///  - An annotation shards only inputs and outputs of its own node, and each of
///    them at most once.
///  - A pipeline stage is not negative.
///  - A sharding splits each dim at most once. Each number of shards is at
///    least 1.
///  - A tensor has no more shards than the configuration has devices.
///  - A device list is empty or has one entry per shard. If the tensor has only
///    one shard, the list may have any length.
///  - The devices of a configuration are numbered from 0. Each entry of a
///    device list is one of these numbers or the key of a group.
///  - All entries of a device list stand for the same number of devices.
///    Example: if one entry is a group of 2 devices, each other entry is also a
///    group of 2 devices.
///  - No device occurs twice in a sharding. Example: if one entry of the device
///    list is a group with the devices 0 and 1, no other entry is device 0, and
///    no other group contains device 0.
///  - A device group has at least one device. Each group of a sharding has a
///    different key, and the device list contains the key.
///
/// Returns the first error that it finds, with the exit code CannotMeet. The
/// message names the node, unless the error is in a device configuration.
Status checkDevices(const Model &model);

} // namespace pcc::onnx

#endif // PCC_PASSES_1_IMPORT_ONNX_CHECK_CHECKDEVICES_H
