//===- Device.h - interface of the devices that execute programs ----------===//
//
// A device executes the instructions of one rank's program, on the cores of the
// host or on a GPU. Collectives are not among them: the engine executes those
// (runtime/engine/collective). The order of calls is:
//
//   Device::prepare() …       once per instruction, in program order
//   Device::finishLoading()   once; allocates the scratch of all operations
//                             (the engine sets the addresses of parameters)
//   Operation::warmUp() …     once per operation
//   Operation::run() …        in every step, in the order of the action table
//
// Everything that depends on shapes is decided in prepare(). An operation only
// computes the addresses of its buffers and the values of scalars when it runs,
// and allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_DEVICE_H
#define PCC_RUNTIME_DEVICE_DEVICE_H

#include "runtime/program/Program.h"
#include "runtime/program/ProgramImage.h"
#include "runtime/tensor/StridedCopy.h"

#include <memory>
#include <span>

namespace pcc::runtime {

/// Addresses of a program's buffers. A buffer has one or more slots (memories
/// of one microbatch) of equal size. Microbatch m uses slot m modulo the number
/// of slots. The table does not own the memory.
class BufferTable {
public:
  /// Creates a table with an entry for each buffer of `program`. No buffer has
  /// an address until setBase() is called for it.
  explicit BufferTable(const program::ProgramT &program) {
    for (const auto &buffer : program.buffers)
      entries.push_back({nullptr, buffer->slot_stride, buffer->slots});
  }

  /// Sets the address of slot 0 (the memory of microbatch 0) of the buffer with
  /// index `buffer`.
  void setBase(int32_t buffer, void *base) {
    entries[buffer].base = static_cast<char *>(base);
  }
  /// Returns the address that the buffer with index `buffer` has in microbatch
  /// `microbatch`. Requires an earlier setBase() for the buffer.
  void *at(int32_t buffer, int64_t microbatch) const {
    const BufferEntry &entry = entries[buffer];
    return entry.base + microbatch % entry.slots * entry.slotStride;
  }

private:
  /// Address of one buffer, and its division into slots (one per microbatch).
  struct BufferEntry {
    /// Address of slot 0 (the memory of microbatch 0); null until setBase().
    char *base;
    /// Bytes from the beginning of one slot (the memory of one microbatch) to
    /// the beginning of the next slot.
    int64_t slotStride;
    /// Number of slots (memories of one microbatch each); at least 1.
    /// Microbatch m uses slot m modulo this number.
    int64_t slots;
  };
  std::vector<BufferEntry> entries;
};

/// Access to this rank's shards (local pieces) of the parameters while a
/// program is loaded. A device may keep a parameter in a format of its own,
/// such as oneDNN's:
///
/// - acquire() returns the shard;
/// - the device copies the shard into its format;
/// - drop() frees the shard.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Returns whether a device may keep the parameter with index `parameter` in
  /// a format of its own. Only one operand of one instruction may read the
  /// parameter, and no instruction may write it.
  virtual bool isExclusive(int32_t parameter) const = 0;
  /// Sets `data` to this rank's shard of the parameter with index `parameter`,
  /// as a dense row-major tensor. The first call reads the shard from a file or
  /// generates it. This object owns the memory, which is valid until drop().
  virtual Status acquire(int32_t parameter, const void *&data) = 0;
  /// Frees this rank's shard (local piece) of the parameter with index
  /// `parameter`. The device must have copied the shard into its own memory
  /// format.
  virtual void drop(int32_t parameter) = 0;
};

class Device;
class QueuedDevice;

/// Input of Device::prepare(), which creates the operation of one instruction.
/// Operations keep copies of this struct. The objects that it references must
/// outlive the operations.
struct LoadContext {
  /// The program that contains the instruction.
  const program::ProgramT &program;
  /// Kernels of the program, compiled by pcc.
  const ProgramImage &image;
  const Mesh &mesh;
  /// Coordinates of this rank on the mesh. The last coordinate, on the
  /// microbatch axis, is 0.
  const Coordinates &at;
  /// Addresses of the buffers in the device's memory. Buffers of parameters
  /// have no address before Device::finishLoading().
  const BufferTable &buffers;
  /// Addresses of the model's inputs in host memory, for the current step. If
  /// the device shares the host's memory, `hostBuffers` refers to the table
  /// `buffers`.
  const BufferTable &hostBuffers;
  /// This rank's shards of the parameters. A device may copy a shard into a
  /// memory format of its own, such as oneDNN's, and free the shard.
  ParameterSource &parameters;
  /// The device whose prepare() is called.
  Device &device;
};

/// Input of one Operation::run().
struct RunContext {
  /// Coordinates of this rank on the mesh. The last coordinate, on the
  /// microbatch axis, equals `microbatch`.
  const Coordinates &at;
  int64_t microbatch;
  /// Name of the schedule's action that contains the operation, such as "0F3"
  /// (stage 0, forward pass, microbatch 3). Used in error messages.
  const std::string &action;
};

/// An instruction that Device::prepare() has made ready to run. On a device
/// with a queue (such as a GPU stream), run() only enqueues the work.
/// Operations run one at a time, so they share scratch memory.
class Operation {
public:
  virtual ~Operation() = default;
  /// Executes the instruction for microbatch `context.microbatch`. On a device
  /// with a queue, only enqueues the work.
  virtual Status run(const RunContext &context) = 0;
  /// Loads libraries and GPU code before the first step. Called once, when all
  /// buffers have addresses. May overwrite arena buffers (intermediate
  /// results). The default implementation does nothing.
  ///
  /// A load during a step could deadlock: the load waits for an idle GPU, while
  /// the GPU waits for another rank.
  virtual Status warmUp(const RunContext & /*context*/) {
    return Status::success();
  }
  /// Returns whether run() does all its work on the host, even on a GPU. A CUDA
  /// graph of a step does not contain such work. The engine therefore calls
  /// run() before each launch of the graph.
  virtual bool runsOnHost() const { return false; }
  /// Does host work after the end of a step, such as a check of data that run()
  /// has copied to the host. The engine calls this function once for each
  /// execution of the operation in the step. Only used on a device with a
  /// queue, such as a GPU.
  virtual Status afterStep(const RunContext & /*context*/) {
    return Status::success();
  }
};

/// One contiguous copy within the device's memory.
struct DeviceCopy {
  void *to;
  const void *from;
  size_t bytes;
};

/// The device of one rank. One thread makes all calls. A function that "begins"
/// work may return before the work is complete. Work executes in the order of
/// the calls, unless a function states otherwise. Without a queue, all work is
/// complete when a function returns.
class Device {
public:
  virtual ~Device() = default;

  /// Returns whether host code can access the device's memory. If false, data
  /// must be transferred with upload() and download().
  virtual bool sharesHostMemory() const = 0;
  /// Sets `data` to `bytes` bytes of new, zeroed device memory, aligned to
  /// kAlignment. The device frees the memory in its destructor. Exit code 13
  /// (NoDevice) if there is not enough memory.
  virtual Status allocate(int64_t bytes, char *&data) = 0;
  /// Sets `data` to `bytes` bytes of new, zeroed host memory, aligned to
  /// kAlignment. The device frees the memory in its destructor. For a GPU the
  /// memory is page-locked, so that transfers can be asynchronous.
  virtual Status allocatePinned(int64_t bytes, char *&data) = 0;
  /// Copies `bytes` bytes from host to device memory, after all earlier work.
  /// Blocks until the copy is complete.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;
  /// Copies `bytes` bytes from device to host memory, after all earlier work.
  /// Blocks until the copy is complete.
  virtual Status download(void *to, const void *from, size_t bytes) = 0;
  /// Begins to set `bytes` bytes of device memory to 0.
  virtual Status clear(void *data, size_t bytes) = 0;
  /// Begins strided copies from `from` to `to`, two ranges of device memory
  /// that do not overlap. `size` is the size of an element in bytes.
  virtual Status copy(std::span<const StridedCopy> copies, const void *from,
                      void *to, size_t size) = 0;

  /// Sets `operation` to a new operation that executes `instruction`, which
  /// must not be a collective. Called once per instruction, in program order.
  virtual Status prepare(const LoadContext &context,
                         const program::InstructionT &instruction,
                         std::unique_ptr<Operation> &operation) = 0;
  /// Allocates the scratch memory that all operations share. Called once, after
  /// the last prepare().
  virtual Status finishLoading() = 0;

  /// Sets `isDone` to whether all begun work is complete. Does not block.
  /// Returns an error if any work has failed. Ignores an upload that
  /// QueuedDevice::beginUpload() has begun, until copyWithin() is called after
  /// it.
  virtual Status poll(bool &isDone) = 0;

  /// Returns the queue interface of this device, or null if it has no queue. A
  /// device that does not share the host's memory must have a queue.
  virtual QueuedDevice *queued() { return nullptr; }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_DEVICE_H
