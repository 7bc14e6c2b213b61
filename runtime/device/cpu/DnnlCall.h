//===- DnnlCall.h - one oneDNN primitive and its operands -----------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H
#define PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H

#include "runtime/device/cpu/CpuResources.h"

#include <dnnl.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace pcc::runtime {

/// oneDNN's name of a type, if it computes in it.
std::optional<dnnl::memory::data_type> dnnlTypeOf(ElementType type);

/// Appends the activation; nothing for None.
void appendActivation(dnnl::post_ops &ops, program::Activation activation);

/// Attributes that every primitive of ours has: its scratch is ours.
dnnl::primitive_attr attributes(const dnnl::post_ops &ops);

/// Whether an implementation is one of oneDNN's slow fallbacks.
bool isReference(const char *implementation);

using AlignedMemory = std::unique_ptr<void, decltype(&std::free)>;
AlignedMemory allocateAligned(size_t bytes);

/// A weight in the form that a primitive wants: either a buffer, or a packed
/// copy that replaces the parameter's plain piece.
struct WeightOperand {
  dnnl::memory::desc desc;
  int32_t buffer = -1;
  size_t offset = 0; ///< bytes into the buffer
  AlignedMemory packed{nullptr, &std::free};
};

/// Whether the weight in `buffer` may be kept packed: a parameter's whole piece
/// that nothing else reads and no step changes.
bool mayPack(const LoadContext &context, int32_t buffer);

/// Packs the weight if `wanted` differs from `plain`.
Status makeWeight(CpuResources &resources, const LoadContext &context,
                  int32_t buffer, const dnnl::memory::desc &plain,
                  const dnnl::memory::desc &wanted, WeightOperand &weight);

/// A primitive whose operands are buffers, fixed memory or places in the shared
/// scratch. Addresses are set on every run; nothing is allocated then.
class DnnlCall {
public:
  explicit DnnlCall(CpuResources &resources) : resources(resources) {}

  /// `offset` is in bytes.
  void addBuffer(int argument, const dnnl::memory::desc &desc, int32_t buffer,
                 size_t offset = 0);
  void addFixed(int argument, const dnnl::memory::desc &desc, void *data);
  void addScratch(int argument, const dnnl::memory::desc &desc, size_t offset);
  void addWeight(int argument, const WeightOperand &weight);
  /// `scratchpadOffset` is where the primitive's own scratch begins.
  void finish(const dnnl::primitive &created,
              const dnnl::memory::desc &scratchpad, size_t scratchpadOffset);

  Status run(const BufferTable &buffers, int64_t microbatch);

private:
  struct CallOperand {
    dnnl::memory memory;
    int32_t buffer; ///< or -1
    bool isScratch;
    size_t offset; ///< bytes into the buffer or the shared scratch
  };
  void add(int argument, const dnnl::memory::desc &desc, void *data,
           int32_t buffer, bool isScratch, size_t offset);

  CpuResources &resources;
  dnnl::primitive primitive;
  std::vector<CallOperand> operands;
  std::vector<dnnl_exec_arg_t> arguments;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_DNNLCALL_H
