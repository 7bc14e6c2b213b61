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

/// A dense row-major input or output of a host op (a rare op with a
/// hand-written loop).
struct HostOperand {
  ElementType type;
  std::vector<int64_t> shape;
  /// Address of the first element; null before the first run. It depends on the
  /// microbatch, so it is set before each run.
  void *data;
};

/// Operands and attributes of one call of a host op (a rare op with a
/// hand-written loop). The files in hostops/ document them for each op.
struct HostOpCall {
  std::vector<HostOperand> inputs;
  std::vector<HostOperand> outputs;
  /// Integer attributes, such as the index of the dim to sort.
  std::vector<int64_t> integers;
  /// Floating-point attributes.
  std::vector<double> numbers;
  /// Scratch memory, in words of 64 bits. HostOpRow::prepare() sets its size;
  /// HostOpRow::run() must not change the size.
  std::vector<int64_t> workspace;
};

/// Row of the table of host ops: the name of one op and its two functions.
struct HostOpRow {
  /// Name of the op in HostOp instructions, such as "top_k".
  std::string_view name;
  /// Checks the types, shapes and attributes of a call, and sets the size of
  /// the workspace. Operands have no addresses yet. Returns null if the call is
  /// valid, otherwise the fault, such as "needs one input".
  const char *(*prepare)(HostOpCall &call);
  /// Executes the op. prepare() must have returned null for `call`, which means
  /// that the call is valid. The operands of `call` must have addresses.
  void (*run)(HostOpCall &call);
};

/// Returns the table rows of the ops that sort (hostops/Sorting.cpp).
std::span<const HostOpRow> sortingOps();
/// Returns the table rows of the ops that scan a dim, such as a cumulative sum
/// (hostops/Scans.cpp).
std::span<const HostOpRow> scanOps();
/// Returns the table rows of the ops that write elements at given indices
/// (hostops/Scatters.cpp).
std::span<const HostOpRow> scatterOps();
/// Returns the table rows of the ops of mixture-of-experts layers
/// (hostops/Experts.cpp).
std::span<const HostOpRow> expertOps();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
