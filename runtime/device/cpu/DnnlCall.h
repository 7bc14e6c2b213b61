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

/// Returns oneDNN's name for `type` if it is f32 or bf16, otherwise
/// std::nullopt.
std::optional<dnnl::memory::data_type> dnnlTypeOf(ElementType type);

/// Appends `activation` to `ops`, the operations that a primitive applies to
/// its result (post-ops). Appends nothing for Activation::None.
void appendActivation(dnnl::post_ops &ops, program::Activation activation);

/// Returns the attributes of a primitive with the post-ops `ops`. The
/// attributes also set scratchpad_mode::user: the caller provides the
/// primitive's scratch memory.
dnnl::primitive_attr attributes(const dnnl::post_ops &ops);

/// Returns whether `implementation`, a name that oneDNN reports, denotes a slow
/// reference implementation.
bool isReference(const char *implementation);

/// Owns memory and frees it with std::free.
using AlignedMemory = std::unique_ptr<void, decltype(&std::free)>;
/// Allocates at least `bytes` bytes, aligned to kAlignment. Returns null if
/// there is not enough memory.
AlignedMemory allocateAligned(size_t bytes);

/// A weight in the memory format that a oneDNN primitive reads. The weight is
/// in one of two places:
///
/// - If the weight in the program's buffer already has this format, the
///   primitive reads the program's buffer.
/// - Otherwise, the weight has been copied to the member `packed` and converted
///   to this format. The primitive reads `packed`. The original weight has been
///   freed.
struct WeightOperand {
  /// Shape, element type and memory format of the weight.
  dnnl::memory::desc desc;
  /// Index of the program's buffer that holds the weight; -1 if the weight is
  /// in `packed`.
  int32_t buffer = -1;
  /// Bytes from the beginning of the program's buffer to the weight; unused if
  /// the weight is in `packed`.
  size_t offset = 0;
  /// Copy of the weight in the memory format that the primitive prefers; null
  /// if the primitive reads the program's buffer.
  AlignedMemory packed{nullptr, &std::free};
};

/// Returns whether a packed copy may replace a weight, so that the original can
/// be freed. A packed copy is a copy in the memory format that oneDNN prefers.
/// The weight is in the program's buffer with index `buffer`. Returns true if
/// all conditions hold:
///
/// - The buffer contains this rank's whole shard of a parameter.
/// - The parameter is not trainable, so that no instruction writes it.
/// - The program uses the parameter only once: as one operand of one
///   instruction.
bool mayPack(const LoadContext &context, int32_t buffer);

/// Makes a weight available to a oneDNN primitive that reads the weight in the
/// memory format `wanted`. The program's buffer `buffer` has the weight in the
/// format `plain`. If the formats are equal, `weight` refers to this buffer.
/// Otherwise the function stores a converted copy in `weight.packed`, and frees
/// the original weight. mayPack() must therefore be true for the buffer.
///
/// Returns an error with exit code 13 (NoDevice) if memory for the copy is
/// lacking. Returns an error also if the original weight cannot be loaded.
Status makeWeight(CpuResources &resources, const LoadContext &context,
                  int32_t buffer, const dnnl::memory::desc &plain,
                  const dnnl::memory::desc &wanted, WeightOperand &weight);

/// A oneDNN primitive, such as a matrix product, with its operands. An operand
/// is in a buffer of the program, at a fixed address, or in the scratch memory,
/// which all operations share. The calls must have this order:
///
///   addBuffer(), addFixed(), addScratch(), addWeight()   for each operand
///   finish()                                             once
///   run()                                                for each execution
class DnnlCall {
public:
  /// Creates an object that does not yet have operands or a primitive.
  /// Functions such as addBuffer() add the operands later. finish() then adds
  /// the primitive. The object uses the oneDNN engine, the oneDNN stream and
  /// the scratch memory in `resources`. `resources` must therefore exist as
  /// long as this object exists.
  explicit DnnlCall(CpuResources &resources) : resources(resources) {}

  /// Adds an operand that is in a buffer of the program. `buffer` is the index
  /// of the buffer. The operand begins `offset` bytes after the beginning of
  /// the buffer. `argument` is oneDNN's number of the operand, such as
  /// DNNL_ARG_SRC. `desc` is the operand's shape, element type and memory
  /// format.
  void addBuffer(int argument, const dnnl::memory::desc &desc, int32_t buffer,
                 size_t offset = 0);
  /// Adds an operand that is at the address `data` in all runs. The caller owns
  /// the memory at this address. The memory must outlive this object.
  /// `argument` is oneDNN's number of the operand, such as DNNL_ARG_WEIGHTS.
  /// `desc` is the operand's shape, element type and memory format.
  void addFixed(int argument, const dnnl::memory::desc &desc, void *data);
  /// Adds an operand that is in the scratch memory, which all operations share.
  /// The operand begins `offset` bytes after the beginning of the scratch
  /// memory. `argument` is oneDNN's number of the operand, such as
  /// DNNL_ARG_SRC. `desc` is the operand's shape, element type and memory
  /// format.
  ///
  /// The scratch memory is allocated later, by CpuResources::allocateScratch().
  /// addScratch() ensures that the allocated memory is large enough for the
  /// operand.
  void addScratch(int argument, const dnnl::memory::desc &desc, size_t offset);
  /// Adds a weight as an operand. `argument` is oneDNN's number of the operand,
  /// such as DNNL_ARG_WEIGHTS. `weight` says where the weight is:
  ///
  /// - If `weight.packed` is not null, it is the address of a copy of the
  ///   weight in oneDNN's memory format. The primitive reads this copy. The
  ///   copy must exist as long as this object exists.
  /// - If `weight.packed` is null, the primitive reads the weight from a buffer
  ///   of the program. `weight.buffer` is the index of the buffer. The weight
  ///   begins `weight.offset` bytes after the beginning of the buffer.
  void addWeight(int argument, const WeightOperand &weight);
  /// Completes this object. Must be called after all operands have been added.
  /// `created` is the oneDNN primitive that run() will execute.
  ///
  /// The primitive may need scratch memory for intermediate results.
  /// `scratchpad` is oneDNN's description of the needed memory. If the size in
  /// this description is 0, no memory is needed. All operations of the device
  /// use one common scratch memory, one after another. The memory of this
  /// primitive begins `scratchpadOffset` bytes after the beginning of the
  /// common scratch memory.
  void finish(const dnnl::primitive &created,
              const dnnl::memory::desc &scratchpad, size_t scratchpadOffset);

  /// Executes the primitive for the microbatch with index `microbatch`, which
  /// determines the addresses of the buffers. Returns exit code 1 (Defect) if
  /// oneDNN reports an error.
  Status run(const BufferTable &buffers, int64_t microbatch);

private:
  /// One operand of the primitive.
  struct CallOperand {
    /// oneDNN's memory object of the operand. run() sets its address, unless
    /// the address is fixed.
    dnnl::memory memory;
    /// Index of the program's buffer that holds the operand; -1 if the operand
    /// is in scratch or at a fixed address.
    int32_t buffer;
    /// Whether the operand is in the shared scratch memory.
    bool isScratch;
    /// Bytes from the beginning of the buffer or of the scratch to the operand.
    size_t offset;
  };
  /// Adds an operand. addBuffer(), addFixed() and addScratch() call this
  /// function.
  ///
  /// - `argument`: oneDNN's number of the operand, such as DNNL_ARG_SRC
  /// - `desc`: shape, element type and memory format of the operand
  /// - `data`: address of an operand with a fixed address, otherwise null
  /// - `buffer`: index of the program's buffer that holds the operand; -1 if
  ///   the operand is in scratch memory or at a fixed address
  /// - `isScratch`: whether the operand is in scratch memory
  /// - `offset`: bytes from the beginning of the buffer or of the scratch
  ///   memory to the operand
  void add(int argument, const dnnl::memory::desc &desc, void *data,
           int32_t buffer, bool isScratch, size_t offset);

  CpuResources &resources;
  dnnl::primitive primitive;
  std::vector<CallOperand> operands;
  /// All operands of the primitive, as an array of the type that oneDNN's C
  /// interface requires.
  std::vector<dnnl_exec_arg_t> arguments;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H
