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

/// Addresses of a program's buffers. A buffer consists of one or more slots of
/// equal size. Microbatch m uses slot m modulo the number of slots, so the
/// address of a buffer can differ between microbatches. The table does not own
/// the memory.
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
/// program is loaded. A device may keep a parameter in a memory format of its
/// own, such as the one that oneDNN prefers. The device then calls acquire(),
/// copies the shard into its format and calls drop(), so that the parameter is
/// in memory only once.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Returns whether exactly one operand of one instruction reads the parameter
  /// with index `parameter`, and no instruction writes the parameter. Only then
  /// may a device keep it in another format.
  virtual bool isExclusive(int32_t parameter) const = 0;
  /// Sets `data` to this rank's shard of the parameter with index `parameter`,
  /// as a dense row-major tensor. The first call reads the shard from a file or
  /// generates it. This object owns the memory, which is valid until drop().
  virtual Status acquire(int32_t parameter, const void *&data) = 0;
  /// Frees the dense shard of the parameter with index `parameter`. The device
  /// must have copied the shard before.
  virtual void drop(int32_t parameter) = 0;
};

class Device;
class QueuedDevice;

/// Input of Device::prepare(), which creates the operation of one instruction.
/// Operations keep copies of this struct. The objects to which its members
/// refer must outlive the operations.
struct LoadContext {
  /// The program that contains the instruction.
  const program::ProgramT &program;
  /// Kernels of the program, compiled by pcc.
  const ProgramImage &image;
  const Mesh &mesh;
  /// Coordinates of this rank on the mesh of ranks, for microbatch 0.
  const Coordinates &at;
  /// Addresses of the buffers in the device's memory. Buffers of parameters
  /// have no address before Device::finishLoading().
  const BufferTable &buffers;
  /// Host addresses of the buffers that hold the inputs of the current step. If
  /// the device shares the host's memory, this table is `buffers`.
  const BufferTable &hostBuffers;
  /// This rank's shards of the parameters. A device may copy a shard into its
  /// preferred memory format, as ParameterSource describes.
  ParameterSource &parameters;
  /// The device whose prepare() is called.
  Device &device;
};

/// Input of one Operation::run().
struct RunContext {
  /// Coordinates of this rank and of the microbatch on the mesh.
  const Coordinates &at;
  int64_t microbatch;
  /// Name of the schedule's action that contains the operation, such as "0F3"
  /// (stage 0, forward pass, microbatch 3). Used in error messages.
  const std::string &action;
};

/// An instruction that Device::prepare() has made ready to run. On a device
/// with a queue, such as a GPU with its stream, run() only enqueues the work.
/// Device::poll() then returns whether the work is complete. The operations of
/// a rank execute one at a time, so they can share scratch memory.
class Operation {
public:
  virtual ~Operation() = default;
  /// Executes the instruction for microbatch `context.microbatch`. On a device
  /// with a queue, only enqueues the work.
  virtual Status run(const RunContext &context) = 0;
  /// Initializes what libraries would otherwise initialize in the first run(),
  /// such as code that is loaded onto the GPU. Called once before the first
  /// step, when all buffers have addresses. May overwrite arena buffers
  /// (intermediate results). The default implementation does nothing.
  ///
  /// Loading code during a step could deadlock: the load waits until the GPU is
  /// idle, but the GPU waits in a receive for a rank that sends later.
  virtual Status warmUp(const RunContext & /*context*/) {
    return Status::success();
  }
  /// Returns whether run() does all its work on the host, even on a device with
  /// a queue. A recorded step (QueuedDevice::beginRecording) does not contain
  /// this work. The engine therefore calls run() before each replay of the
  /// recorded step.
  virtual bool runsOnHost() const { return false; }
  /// Does what remains to be done on the host after the device has completed
  /// the step, such as a check of what run() has copied to the host. Called for
  /// each run() of the step, only on a device with a queue.
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

/// The device of one rank. One thread makes all calls. On a device with a
/// queue, a function that "begins" work may return before the work is complete.
/// Work is executed in the order of the calls unless a function's comment
/// states another order. On a device without a queue, all work is complete when
/// a function returns.
class Device {
public:
  virtual ~Device() = default;

  /// Returns whether host code can access the device's memory. If false, data
  /// must be transferred with upload() and download().
  virtual bool sharesHostMemory() const = 0;
  /// Sets `data` to `bytes` bytes of new device memory, zeroed and aligned to
  /// kAlignment. `bytes` is not rounded up. The device owns the memory and
  /// frees it in its destructor. Exit code 13 (NoDevice) if there is not enough
  /// memory.
  virtual Status allocate(int64_t bytes, char *&data) = 0;
  /// Sets `data` to `bytes` bytes of new host memory, zeroed and aligned to
  /// kAlignment. The device owns the memory and frees it in its destructor. For
  /// a GPU the memory is page-locked, so that transfers are fast and can be
  /// asynchronous.
  virtual Status allocatePinned(int64_t bytes, char *&data) = 0;
  /// Copies `bytes` bytes from host memory to device memory. The copy is
  /// executed after all work that was begun earlier. Blocks until the copy is
  /// complete.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;
  /// Copies `bytes` bytes from device memory to host memory. The copy is
  /// executed after all work that was begun earlier. Blocks until the copy is
  /// complete.
  virtual Status download(void *to, const void *from, size_t bytes) = 0;
  /// Begins to set `bytes` bytes of device memory to 0; the work may be
  /// complete only later (poll()).
  virtual Status clear(void *data, size_t bytes) = 0;
  /// Begins strided copies from `from` to `to`, two ranges of device memory
  /// that do not overlap. `size` is the size of an element in bytes. The copies
  /// may be complete only later (poll()).
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

  /// Sets `isDone` to whether all work that was begun is complete. Does not
  /// block. Uploads by QueuedDevice::beginUpload() count only after a later
  /// copyWithin() was called. Returns an error if any of the work has failed.
  virtual Status poll(bool &isDone) = 0;

  /// Returns the interface QueuedDevice of this device, or null if the device
  /// has no queue. A device whose sharesHostMemory() is false must have a
  /// queue.
  virtual QueuedDevice *queued() { return nullptr; }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_DEVICE_H
