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

/// Addresses of a program's buffers. A buffer consists of one or more slots,
/// and microbatch m uses slot m modulo the number of slots. An address may
/// therefore differ between microbatches: operations look it up in every run.
/// The table borrows the memory.
class BufferTable {
public:
  /// Creates the table of all buffers of `program`. No buffer has an address
  /// yet.
  explicit BufferTable(const program::ProgramT &program) {
    for (const auto &buffer : program.buffers)
      entries.push_back({nullptr, buffer->slot_stride, buffer->slots});
  }

  /// Sets the address of slot 0 of a buffer.
  void setBase(int32_t buffer, void *base) {
    entries[buffer].base = static_cast<char *>(base);
  }
  /// Returns the address of a buffer's slot for a microbatch. Requires an
  /// earlier setBase() for the buffer.
  void *at(int32_t buffer, int64_t microbatch) const {
    const BufferEntry &entry = entries[buffer];
    return entry.base + microbatch % entry.slots * entry.slotStride;
  }

private:
  /// Location of one buffer.
  struct BufferEntry {
    /// Address of slot 0; null until setBase().
    char *base;
    /// Bytes from the beginning of one slot to the next.
    int64_t slotStride;
    /// Number of slots.
    int64_t slots;
  };
  std::vector<BufferEntry> entries;
};

/// Access to the local pieces of parameters while a program is loaded. A device
/// that keeps a parameter in its own format acquires the plain piece, packs it
/// and drops it. The parameter is then in memory only once.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Returns whether exactly one operand of one instruction reads the
  /// parameter, and no instruction writes it. Only then may a device keep the
  /// parameter in its own format.
  virtual bool isExclusive(int32_t parameter) const = 0;
  /// Sets `data` to the dense local piece of the parameter, which is read or
  /// generated on first use. The source owns the memory, which is valid until
  /// drop().
  virtual Status acquire(int32_t parameter, const void *&data) = 0;
  /// Frees the plain local piece, because the device has its own copy.
  virtual void drop(int32_t parameter) = 0;
};

class Device;

/// Input of Device::prepare(). All references must outlive the prepared
/// operations, which keep copies of this struct.
struct LoadContext {
  /// Tables of the program.
  const program::ProgramT &program;
  /// Compiled kernels of the program.
  const ProgramImage &image;
  const Mesh &mesh;
  /// Mesh coordinates of this rank, in microbatch 0.
  const Coordinates &at;
  /// Addresses in the device's memory. Parameters have no address before
  /// Device::finishLoading().
  const BufferTable &buffers;
  /// Addresses of the host's copies of the current step's inputs. If the device
  /// shares the host's memory, this is the same table as `buffers`.
  const BufferTable &hostBuffers;
  /// Local pieces of the parameters, which a device may pack.
  ParameterSource &parameters;
  /// The device that prepares the instruction.
  Device &device;
};

/// Input of one execution of an operation.
struct RunContext {
  /// Mesh coordinates of this rank and of the microbatch.
  const Coordinates &at;
  int64_t microbatch;
  /// Name of the action that is executed, such as "0F3", for error messages.
  const std::string &action;
};

/// One instruction, ready to run. On a device with a queue, such as a GPU's
/// stream, run() only enqueues the work, and Device::poll() tells when the work
/// is complete. Operations of a rank run one at a time, so they can share
/// scratch memory.
class Operation {
public:
  virtual ~Operation() = default;
  /// Executes the instruction for one microbatch, or enqueues that on the
  /// device.
  virtual Status run(const RunContext &context) = 0;
  /// Runs once what a library initializes on its first call, such as loading
  /// code. Called before the first step, when all buffers have addresses; arena
  /// buffers have undefined contents and may be overwritten. During a step such
  /// an initialization could deadlock: loading code may wait until the GPU is
  /// idle, and the GPU may be in a receive from a rank that sends only later.
  /// The default does nothing.
  virtual Status warmUp(const RunContext & /*context*/) {
    return Status::success();
  }
  /// Returns whether run() completes the work on the host, even if the device
  /// has a queue. The device then does not record the operation, so that the
  /// engine runs it again in every replayed step.
  virtual bool runsOnHost() const { return false; }
};

/// One contiguous copy within the device's memory.
struct DeviceCopy {
  void *to;
  const void *from;
  size_t bytes;
};

/// The device of one rank. All calls are made by one thread. On a device with a
/// queue, functions that "begin" something return before the work is complete.
/// Work is executed in the order of the calls unless a function says otherwise.
/// A device without a queue completes all work before it returns.
class Device {
public:
  virtual ~Device() = default;

  /// Returns whether the host can access the device's memory directly. If not,
  /// data must be transferred with upload() and download().
  virtual bool sharesHostMemory() const = 0;
  /// Allocates `bytes` bytes of device memory, zeroed and aligned to
  /// kAlignment. The size is not rounded up. The device owns the memory and
  /// frees it when it is destroyed. Exit code 13 (NoDevice) if there is not
  /// enough memory.
  virtual Status allocate(int64_t bytes, char *&data) = 0;
  /// Allocates host memory with the same properties as that of allocate(). On a
  /// GPU it is page-locked, so that transfers are fast and can be asynchronous.
  virtual Status allocatePinned(int64_t bytes, char *&data) = 0;
  /// Copies from host memory to device memory, after all work that was begun
  /// before. Blocks until the copy is complete.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;
  /// Copies from device memory to host memory, after all work that was begun
  /// before. Blocks until the copy is complete.
  virtual Status download(void *to, const void *from, size_t bytes) = 0;
  /// Begins to copy from memory of allocatePinned() to device memory,
  /// concurrently with work that was begun before, but after the last
  /// copyWithin(). The host must not write the source before the following
  /// copyWithin() is complete. Devices that share the host's memory do not
  /// support this.
  virtual Status beginUpload(void * /*to*/, const void * /*from*/,
                             size_t /*bytes*/) {
    return Status::error(Defect, "the device shares the host's memory");
  }
  /// Begins to copy within the device's memory: after all work and all uploads
  /// that were begun before, and before all that are begun later. Devices that
  /// share the host's memory do not support this.
  virtual Status copyWithin(std::span<const DeviceCopy> /*copies*/) {
    return Status::error(Defect, "the device shares the host's memory");
  }
  /// Begins to set `bytes` bytes of device memory to 0.
  virtual Status clear(void *data, size_t bytes) = 0;
  /// Begins to execute strided copies between two ranges of device memory that
  /// do not overlap. `size` is the size of an element in bytes.
  virtual Status copy(std::span<const StridedCopy> copies, const void *from,
                      void *to, size_t size) = 0;

  /// Begins to generate random elements of a tensor in device memory, with
  /// `kernel`, a generator among the program's kernels (PccGpuCode). `key` is
  /// RandomTensor::key. The source side of `copies` selects the elements of the
  /// tensor, which determine the values; the target side says where in `to`
  /// they are stored. Devices that share the host's memory do not support this.
  virtual Status generate(const ProgramImage & /*image*/, int32_t /*kernel*/,
                          uint64_t /*key*/,
                          std::span<const StridedCopy> /*copies*/,
                          void * /*to*/) {
    return Status::error(Defect, "the device makes no weights");
  }

  /// Prepares the operation of an instruction other than a collective. Called
  /// once per instruction, in program order.
  virtual Status prepare(const LoadContext &context,
                         const program::InstructionT &instruction,
                         std::unique_ptr<Operation> &operation) = 0;
  /// Allocates the memory that all operations share. Called once, after the
  /// last prepare().
  virtual Status finishLoading() = 0;

  /// Sets `isDone` to whether all work that was begun is complete, without
  /// blocking. Uploads count only once a copyWithin() follows them. Returns an
  /// error if any of the work has failed.
  virtual Status poll(bool &isDone) = 0;

  /// Returns whether the device can record a step and replay it as a whole (a
  /// CUDA graph).
  virtual bool canRecord() const { return false; }
  /// Begins a recording. Until endRecording() all work that is begun is
  /// captured instead of executed.
  virtual Status beginRecording() { return Status::success(); }
  /// Ends the recording. The device keeps it until dropRecording().
  virtual Status endRecording() { return Status::success(); }
  /// Begins to execute the recorded work. May be called repeatedly.
  virtual Status replay() { return Status::success(); }
  /// Destroys the recording, if there is one. Must be called before the
  /// communicators that the recorded work uses are destroyed.
  virtual void dropRecording() {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_DEVICE_H
