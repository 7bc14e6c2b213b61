//===- HostOps.h - table of ops that the CPU device runs by name ----------===//
//
// Rare ops have no kind of instruction of their own. A HostOp instruction names
// one of the functions in the folder hostops/, and lists its operands and
// attributes. Host ops run on one thread, except in calls of oneDNN.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
#define PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H

#include "runtime/device/Device.h"

#include <string_view>

namespace pcc::runtime {

/// A dense row-major operand of a call.
struct HostOperand {
  ElementType type;
  std::vector<int64_t> shape;
  /// Address of the elements in the current microbatch; null before the first
  /// run.
  void *data;
};

/// Operands and attributes of one call. Each source file in hostops/ documents
/// the operands and attributes of its ops in its first lines.
struct HostOpCall {
  std::vector<HostOperand> inputs;
  std::vector<HostOperand> outputs;
  /// Integer attributes, such as the dim to sort.
  std::vector<int64_t> integers;
  /// Floating-point attributes.
  std::vector<double> numbers;
  /// Scratch memory, whose size HostOpRow::prepare() sets. A run must not
  /// resize it.
  std::vector<int64_t> workspace;
};

/// One op.
struct HostOpRow {
  /// Name of the op in HostOp instructions, such as "top_k".
  std::string_view name;
  /// Checks types, shapes and attributes of a call and sizes the workspace.
  /// Operands have no addresses yet. Returns null, or a phrase that tells what
  /// is wrong, such as "needs one input".
  const char *(*prepare)(HostOpCall &call);
  /// Executes a call that prepare() has accepted.
  void (*run)(HostOpCall &call);
};

/// Returns the ops that sort (hostops/Sorting.cpp).
std::span<const HostOpRow> sortingOps();
/// Returns the ops that scan a dim, such as a cumulative sum (Scans.cpp).
std::span<const HostOpRow> scanOps();
/// Returns the ops that write elements at indices (Scatters.cpp).
std::span<const HostOpRow> scatterOps();
/// Returns the ops of mixture-of-experts layers (Experts.cpp).
std::span<const HostOpRow> expertOps();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
