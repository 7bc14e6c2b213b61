//===- HostTrainingState.h - host copies of weights and optimizer state ---===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
#define PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H

#include "runtime/checkpoint/TrainingState.h"
#include "runtime/device/Device.h"

#include <span>
#include <vector>

namespace pcc::runtime {

/// Gives the host access to a rank's shards of the weights and the optimizer
/// state. The host needs this access to save and load checkpoints. There are
/// two kinds of devices:
///
/// - The device shares the host's memory, as a CPU does. The host accesses the
///   device's own buffers. fetch() and store() do nothing.
/// - The device has its own memory, as a GPU does. This object keeps a copy of
///   each shard in pinned host memory. fetch() copies the shards from the
///   device to the host. store() copies the shards from the host to the device.
class HostTrainingState {
public:
  /// Prepares access to the weights and the optimizer state that `program`
  /// trains. The table `buffers` must already contain the addresses of these
  /// tensors on `device`. The constructor copies the addresses. `device` and
  /// the memory at the addresses must outlive this object.
  HostTrainingState(const program::ProgramT &program, Device &device,
                    const BufferTable &buffers);

  /// Allocates host memory for copies of the shards, unless the device shares
  /// the host's memory. Call this before fetch() and store(). Later calls do
  /// nothing.
  Status open();

  /// Returns one StateTensor for each weight and optimizer state that training
  /// changes on this rank. All have different names. After open(),
  /// `StateTensor::data` is the address of this rank's shard in host memory.
  std::span<const StateTensor> tensors() const { return {pieces.data(), once}; }
  /// Returns a list with one StateTensor object for each device buffer of the
  /// tensors that training changes on this rank. These tensors are weights and
  /// optimizer state. A tensor has several buffers if the program reads the
  /// tensor in several ways. For example, a program reads the weight `w` both
  /// whole and divided over the ranks. The rank then has two buffers of `w`.
  ///
  /// The list begins with the objects that tensors() returns. These objects
  /// describe the first buffer of each tensor. The objects for second and later
  /// buffers, such as the second buffer of `w`, come at the end of the list.
  std::span<const StateTensor> all() const { return pieces; }

  /// Waits for the device. Then copies this rank's shards of the weights and
  /// the optimizer state from the device to the host. If a tensor has several
  /// buffers on the device, only the first buffer is copied. Does nothing if
  /// the device shares the host's memory.
  Status fetch();
  /// Copies this rank's shards of the weights and the optimizer state from the
  /// host to the device. A tensor may have several buffers on the device. This
  /// object has one array in host memory for each buffer on the device. The
  /// function copies each array to its buffer. The caller must fill all arrays
  /// before the call. For example, if a weight has two buffers, the caller must
  /// fill two arrays with the elements of the weight.
  ///
  /// Does nothing if the device shares the host's memory.
  Status store();

private:
  Device &device;
  /// One entry for each device buffer of the tensors that training changes. The
  /// tensors are weights and optimizer state. A tensor may have several
  /// buffers. For example, the tensor `w` has two buffers, and the tensor `b`
  /// has one buffer:
  ///
  ///   pieces   first buffer of w, first buffer of b, second buffer of w
  ///
  /// The member `once` is the number of tensors, which is 2 in the example. The
  /// first `once` entries are the first buffers of the tensors. After open(),
  /// `StateTensor::data` of each entry is an address in host memory.
  std::vector<StateTensor> pieces;
  /// Sizes in bytes of the device buffers of the weights and the optimizer
  /// state. `bytes[i]` is the size of the buffer that `pieces[i]` describes.
  std::vector<int64_t> bytes;
  /// Device addresses of the buffers of the weights and the optimizer state.
  /// `onDevice[i]` is the address of the buffer that `pieces[i]` describes.
  std::vector<void *> onDevice;
  /// Number of different weights and optimizer states. `pieces` has one entry
  /// per device buffer, and a tensor may have several buffers. Example: of 3
  /// tensors, one has two buffers and each of the other two has one. Then
  /// `once` is 3, and `pieces` has 4 entries. The first 3 entries are different
  /// tensors.
  size_t once = 0;
  bool isOpen = false;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_HOSTTRAININGSTATE_H
