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
/// equal size. A slot is memory for one microbatch at a time. Microbatch m uses
/// slot m modulo the number of slots. For example, if a buffer has 2 slots, the
/// microbatches 0, 2 and 4 use slot 0. The table does not own the memory.
class BufferTable {
public:
  /// Creates a table with an entry for each buffer of `program`. No buffer has
  /// an address until setBase() is called for it.
  explicit BufferTable(const program::ProgramT &program) {
    for (const auto &buffer : program.buffers)
      entries.push_back({nullptr, buffer->slot_stride, buffer->slots});
  }

  /// Sets the address of the buffer with index `buffer` to `base`. A buffer has
  /// one or more slots. Each slot stores the data of one microbatch at a time.
  /// `base` is the address of the first slot. The other slots follow in memory.
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
  /// Address of one buffer, and the number of its slots. Each slot stores the
  /// data of one microbatch at a time. For example, a buffer with 2 slots can
  /// store the data of two microbatches at the same time.
  struct BufferEntry {
    /// Address of the buffer, which is the beginning of its first slot. A slot
    /// is memory for one microbatch at a time. The address is null before the
    /// call of setBase() for the buffer.
    char *base;
    /// Bytes from the beginning of one slot (the memory of one microbatch) to
    /// the beginning of the next slot.
    int64_t slotStride;
    /// Number of slots of the buffer; at least 1. Each slot stores the data of
    /// one microbatch at a time. Microbatch m uses slot m modulo `slots`. For
    /// example, `slots` is 2. Microbatches 0, 2 and 4 use slot 0, and
    /// microbatches 1 and 3 use slot 1.
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
  /// Returns whether a device may convert the parameter with index `parameter`
  /// to the device's own memory format, and free the original. The function
  /// returns true only if both conditions hold:
  ///
  /// - The program uses the parameter exactly once. A second use would need the
  ///   original.
  /// - No instruction writes to the parameter.
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
  /// The program that this rank executes. Each call of Device::prepare()
  /// receives one instruction of this program.
  const program::ProgramT &program;
  /// Kernels of the program, compiled by pcc.
  const ProgramImage &image;
  const Mesh &mesh;
  /// Coordinates of this rank on the mesh: one number per axis. The last axis
  /// of the mesh counts microbatches. At load time, the coordinate on the last
  /// axis is 0. For example, on a mesh with 2 stages, 4 ranks per stage and 8
  /// microbatches, the coordinates of rank 5 are {1, 1, 0}: stage 1, rank 1 of
  /// this stage, microbatch 0.
  const Coordinates &at;
  /// Addresses of the buffers in the device's memory. Buffers of parameters
  /// have no address before Device::finishLoading().
  const BufferTable &buffers;
  /// Host addresses of the model's inputs in the current step. There are two
  /// cases:
  ///
  /// - The device is a GPU. Each input is in host memory and in GPU memory.
  ///   `hostBuffers` contains the address in host memory. `buffers` contains
  ///   the address in GPU memory. Only inputs have an address in `hostBuffers`.
  /// - The device is a CPU. `hostBuffers` and `buffers` are the same table.
  const BufferTable &hostBuffers;
  /// This rank's shards of the parameters. A device may copy a shard into a
  /// memory format of its own, such as oneDNN's, and free the shard.
  ParameterSource &parameters;
  /// The device of this rank. An operation may call functions of the device,
  /// for example allocatePinned() to allocate host memory.
  Device &device;
};

/// Data that the engine passes to an operation in the calls of run(), warmUp()
/// and afterStep(). The data consist of the microbatch, the mesh coordinates of
/// this rank, and the name of the schedule's action.
struct RunContext {
  /// Coordinates of this rank on the mesh: one number per axis. The last axis
  /// of the mesh counts microbatches. The coordinate on the last axis therefore
  /// equals `microbatch`. For example, on a mesh with 2 stages, 4 ranks per
  /// stage and 8 microbatches, the coordinates of rank 5 in microbatch 3 are
  /// {1, 1, 3}: stage 1, rank 1 of this stage, microbatch 3.
  const Coordinates &at;
  int64_t microbatch;
  /// Name of the schedule's action that contains the operation, such as "0F3"
  /// (stage 0, forward pass, microbatch 3). Used in error messages.
  const std::string &action;
};

/// An instruction of the program that is ready to run, such as a matrix
/// product. Device::prepare() creates the operation from the instruction. If
/// the instruction is a collective, the engine creates the operation. On a CPU,
/// run() executes the instruction. On a GPU, run() adds the work to a CUDA
/// stream, and the GPU executes the work later. Exception: if runsOnHost()
/// returns true, run() executes the instruction on the host.
///
/// A device executes one operation at a time. All operations that one device
/// creates therefore use one common memory for temporary data (scratch
/// memory).
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

/// The device of one rank: the cores of the host, or a GPU. Only one thread
/// calls the functions of a device.
///
/// A GPU executes work from a queue (a CUDA stream), in the order in which the
/// work was added. QueuedDevice::beginUpload() is an exception: its copy
/// overlaps with other work. If the comment of a function says "begins", the
/// function may return before the work is complete. The cores of the host have
/// no queue: all work is complete when a function returns.
class Device {
public:
  virtual ~Device() = default;

  /// Returns whether host code can access the device's memory. If false, data
  /// must be transferred with upload() and download().
  virtual bool sharesHostMemory() const = 0;
  /// Sets `data` to `bytes` bytes of new, zeroed device memory, aligned to
  /// kAlignment. The device frees the memory in its destructor. Returns an
  /// error with exit code 13 (NoDevice) if there is not enough memory.
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
  /// Sets `bytes` bytes of device memory to 0, after all earlier work. The
  /// memory begins at address `data`. On a GPU, the function only enqueues this
  /// work on a CUDA stream. It may return before the work is complete.
  virtual Status clear(void *data, size_t bytes) = 0;
  /// Begins to copy elements from the device memory `from` to the device memory
  /// `to`. The two memories must not overlap. The function may return before
  /// the copies are complete. Each entry of `copies` is a loop nest that
  /// selects the elements to copy. The offsets and strides of a loop nest count
  /// elements of `size` bytes. For example, a loop nest can copy rows 2 and 3
  /// of a 4x8 matrix to a 2x8 matrix.
  virtual Status copy(std::span<const StridedCopy> copies, const void *from,
                      void *to, size_t size) = 0;

  /// Sets `operation` to a new operation that executes `instruction`, which
  /// must not be a collective. Called once per instruction, in program order.
  virtual Status prepare(const LoadContext &context,
                         const program::InstructionT &instruction,
                         std::unique_ptr<Operation> &operation) = 0;
  /// Allocates the scratch memory (temporary memory) of all operations. The
  /// engine first calls prepare() for the instructions of the program. Each
  /// call of prepare() states the scratch size that its operation needs. Then
  /// the engine calls finishLoading() once. All operations share one scratch
  /// memory of the largest size.
  virtual Status finishLoading() = 0;

  /// Sets `isDone` to whether the device has completed all work that earlier
  /// calls began. Does not wait. Returns an error if any work has failed.
  ///
  /// There is one exception. An upload that QueuedDevice::beginUpload() began
  /// runs on a second CUDA stream, which poll() does not check. `isDone` may be
  /// true before the upload is complete. After the next call of
  /// QueuedDevice::copyWithin(), `isDone` covers the upload too, because
  /// copyWithin() makes the first stream wait for the upload.
  virtual Status poll(bool &isDone) = 0;

  /// Returns the interface with the functions that only a device with a queue
  /// has, such as asynchronous copies. A queue is a list of work that the
  /// device executes while the host continues. An example is a CUDA stream.
  /// Returns null if the device has no queue.
  ///
  /// A device with its own memory must have a queue, because the engine copies
  /// inputs to this memory with asynchronous copies.
  virtual QueuedDevice *queued() { return nullptr; }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_DEVICE_H
