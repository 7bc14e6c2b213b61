//===- DnnlCall.h - execution of a oneDNN primitive on buffers ------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H
#define PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H

#include "runtime/device/cpu/CpuResources.h"

#include <dnnl.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace pcc::runtime {

/// Returns oneDNN's type for `type`, or nothing if pcc does not compute in that
/// type with oneDNN. Supported are f32 and bf16.
std::optional<dnnl::memory::data_type> dnnlTypeOf(ElementType type);

/// Appends an activation to the operations that follow a primitive's main
/// computation. Appends nothing for Activation::None.
void appendActivation(dnnl::post_ops &ops, program::Activation activation);

/// Returns the attributes of a primitive with the given post-ops. The caller
/// provides the primitive's scratch memory (scratchpad_mode::user).
dnnl::primitive_attr attributes(const dnnl::post_ops &ops);

/// Returns whether `implementation`, a name that oneDNN reports, is a slow
/// reference implementation.
bool isReference(const char *implementation);

/// Memory that std::free releases.
using AlignedMemory = std::unique_ptr<void, decltype(&std::free)>;
/// Allocates at least `bytes` bytes, aligned to kAlignment. Null if there is
/// not enough memory.
AlignedMemory allocateAligned(size_t bytes);

/// A weight in the memory format that a primitive prefers. The weight is either
/// a buffer, or a packed copy that replaces the plain local piece of the
/// parameter.
struct WeightOperand {
  /// Shape, type and memory format of the weight.
  dnnl::memory::desc desc;
  /// Index of the buffer; -1 if the weight is packed.
  int32_t buffer = -1;
  /// Bytes from the beginning of the buffer to the weight.
  size_t offset = 0;
  /// The packed copy; null if the weight is a buffer.
  AlignedMemory packed{nullptr, &std::free};
};

/// Returns whether the weight in `buffer` may be replaced by a packed copy. The
/// buffer must be the whole local piece of a parameter that exactly one operand
/// reads and that is not trainable.
bool mayPack(const LoadContext &context, int32_t buffer);

/// Sets `weight` to the weight in `buffer`. If the formats `wanted` and `plain`
/// differ, packs the parameter into the format `wanted` and drops the plain
/// piece; mayPack() must be true in that case. Exit code 13 if there is not
/// enough memory.
Status makeWeight(CpuResources &resources, const LoadContext &context,
                  int32_t buffer, const dnnl::memory::desc &plain,
                  const dnnl::memory::desc &wanted, WeightOperand &weight);

/// Execution of one oneDNN primitive. Operands are added first, then finish()
/// sets the primitive. Each operand is a buffer, fixed memory or a part of the
/// shared scratch. run() sets the addresses of buffers and scratch in oneDNN's
/// memory objects, so that it allocates nothing.
class DnnlCall {
public:
  /// Creates a call without operands. Borrows `resources`.
  explicit DnnlCall(CpuResources &resources) : resources(resources) {}

  /// Adds a buffer of the program as `argument`, one of oneDNN's DNNL_ARG_
  /// numbers. The operand begins `offset` bytes into the buffer.
  void addBuffer(int argument, const dnnl::memory::desc &desc, int32_t buffer,
                 size_t offset = 0);
  /// Adds memory whose address never changes. The caller keeps the memory
  /// alive.
  void addFixed(int argument, const dnnl::memory::desc &desc, void *data);
  /// Adds a part of the shared scratch that begins at `offset` bytes, and
  /// reserves the scratch for it.
  void addScratch(int argument, const dnnl::memory::desc &desc, size_t offset);
  /// Adds a weight: its packed copy if there is one, otherwise its buffer. A
  /// packed copy must outlive this object.
  void addWeight(int argument, const WeightOperand &weight);
  /// Sets the primitive to execute. If the primitive needs scratch memory of
  /// its own, described by `scratchpad`, that begins `scratchpadOffset` bytes
  /// into the shared scratch.
  void finish(const dnnl::primitive &created,
              const dnnl::memory::desc &scratchpad, size_t scratchpadOffset);

  /// Executes the primitive on the buffers of a microbatch. Fails with exit
  /// code 1 if oneDNN reports an error.
  Status run(const BufferTable &buffers, int64_t microbatch);

private:
  /// One operand of the primitive.
  struct CallOperand {
    /// oneDNN's object for the operand, whose address run() sets.
    dnnl::memory memory;
    /// Index of the buffer; -1 if the operand is no buffer.
    int32_t buffer;
    /// Whether the operand is a part of the shared scratch.
    bool isScratch;
    /// Bytes from the beginning of the buffer or of the scratch.
    size_t offset;
  };
  /// Adds an operand of any kind; the other functions call this.
  void add(int argument, const dnnl::memory::desc &desc, void *data,
           int32_t buffer, bool isScratch, size_t offset);

  CpuResources &resources;
  dnnl::primitive primitive;
  std::vector<CallOperand> operands;
  /// Operands in the form in which oneDNN's C interface takes them.
  std::vector<dnnl_exec_arg_t> arguments;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H
