//===- Device.h - what executes instructions ------------------------------===//
//
// A device turns each instruction of a program into an Operation when the
// program is loaded; running one looks nothing up and allocates nothing.
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

/// Where the buffers of a program are. The engine fills the bases before the
/// first operation runs.
class BufferTable {
public:
  explicit BufferTable(const program::ProgramT &program) {
    for (const auto &buffer : program.buffers)
      entries.push_back({nullptr, buffer->slot_stride, buffer->slots});
  }

  void setBase(int32_t buffer, void *base) {
    entries[buffer].base = static_cast<char *>(base);
  }
  /// Address of a buffer in a microbatch.
  void *at(int32_t buffer, int64_t microbatch) const {
    const BufferEntry &entry = entries[buffer];
    return entry.base + microbatch % entry.slots * entry.slotStride;
  }

private:
  struct BufferEntry {
    char *base;
    int64_t slotStride;
    int64_t slots;
  };
  std::vector<BufferEntry> entries;
};

/// The local pieces of parameters while a program is being loaded.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Whether nothing but one operand of one instruction reads the parameter, so
  /// that a device may keep it in a form of its own.
  virtual bool isExclusive(int32_t parameter) const = 0;
  /// The local piece, dense; read from its file if it has not been.
  virtual Status acquire(int32_t parameter, const void *&data) = 0;
  /// The device has its own copy: the piece is not needed any more.
  virtual void drop(int32_t parameter) = 0;
};

class Device;

/// What preparing an instruction may use. All references outlive the
/// operations.
struct LoadContext {
  const program::ProgramT &program;
  const ProgramImage &image;
  const Mesh &mesh;
  const Coordinates &at; ///< of this rank
  const BufferTable &buffers;
  /// Where the host has what it gave the inputs' buffers.
  const BufferTable &hostBuffers;
  ParameterSource &parameters;
  Device &device;
};

/// What varies from one execution to the next.
struct RunContext {
  const Coordinates &at; ///< of this rank and the microbatch
  int64_t microbatch;
  const std::string &action; ///< for messages: "0F3"
};

/// One instruction, ready to run. What a device with a queue of its own does is
/// begun when run() returns; Device::poll() tells when it is done.
class Operation {
public:
  virtual ~Operation() = default;
  virtual Status run(const RunContext &context) = 0;
  /// Called once, before the first step, with buffers of any contents: makes
  /// ready what a library only does when it is first used. Loading code to a
  /// GPU may wait for all that it does, and in a step that may be a receive of
  /// what another rank sends later.
  virtual Status warmUp(const RunContext & /*context*/) {
    return Status::success();
  }
  /// Whether it is done when run() returns, whatever the device: it is no part
  /// of what the device records.
  virtual bool runsOnHost() const { return false; }
};

/// Bytes of the device's memory that lie elsewhere in it.
struct DeviceCopy {
  void *to;
  const void *from;
  size_t bytes;
};

/// What one rank computes on. Its memory and its operations are used by one
/// thread.
class Device {
public:
  virtual ~Device() = default;

  /// Whether the host can use the device's memory as its own.
  virtual bool sharesHostMemory() const = 0;
  /// Zeroed memory, aligned to kAlignment, that stays as long as the device;
  /// not a byte is added to what is asked for. Exit code 13 if there is none.
  virtual Status allocate(int64_t bytes, char *&data) = 0;
  /// The same of the host, which the device copies from and to most quickly.
  virtual Status allocatePinned(int64_t bytes, char *&data) = 0;
  /// Copy between the host's memory and the device's, when what was begun
  /// before is done; complete on return.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;
  virtual Status download(void *to, const void *from, size_t bytes) = 0;
  /// Begins to copy from what allocatePinned() gave to the device's memory,
  /// beside what was begun before, but behind the last copyWithin(). The host leaves
  /// that alone until the next one is done.
  virtual Status beginUpload(void * /*to*/, const void * /*from*/,
                             size_t /*bytes*/) {
    return Status::error(Defect, "the device shares the host's memory");
  }
  /// Begins to copy within the device's memory, in order with all that is begun
  /// but behind the uploads, too.
  virtual Status copyWithin(std::span<const DeviceCopy> /*copies*/) {
    return Status::error(Defect, "the device shares the host's memory");
  }
  /// Begins to set the device's memory to 0.
  virtual Status clear(void *data, size_t bytes) = 0;
  /// Begins to copy elements of `size` bytes within the device's memory, from
  /// places to others.
  virtual Status copy(std::span<const StridedCopy> copies, const void *from,
                      void *to, size_t size) = 0;

  /// Begins to make random elements in the device's memory, by a kernel of the
  /// program (PccGpuCode): of each copy, those of the tensor's numbers at its
  /// source. For devices whose memory is not the host's.
  virtual Status generate(const ProgramImage & /*image*/, int32_t /*kernel*/,
                          uint64_t /*key*/,
                          std::span<const StridedCopy> /*copies*/,
                          void * /*to*/) {
    return Status::error(Defect, "the device makes no weights");
  }

  /// Makes an instruction other than a collective ready. Called once per
  /// instruction, in program order.
  virtual Status prepare(const LoadContext &context,
                         const program::InstructionT &instruction,
                         std::unique_ptr<Operation> &operation) = 0;
  /// After the last prepare(): allocates what the operations share.
  virtual Status finishLoading() = 0;

  /// Whether all that was begun is done.
  virtual Status poll(bool &isDone) = 0;

  /// Whether it can keep what it is given and do all of that at once, again and
  /// again.
  virtual bool canRecord() const { return false; }
  /// What it is given between these two is kept, and not done.
  virtual Status beginRecording() { return Status::success(); }
  virtual Status endRecording() { return Status::success(); }
  /// Begins to do what it has kept.
  virtual Status replay() { return Status::success(); }
  /// Forgets it: communicators end only when nothing knows them any more.
  virtual void dropRecording() {}
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_DEVICE_H
