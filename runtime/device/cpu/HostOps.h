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

/// Operands and attributes of one call of a host op. A host op is a rare op
/// that the CPU device executes with a hand-written function. The function is
/// in one of the files in the folder hostops/. The comment at the top of that
/// file lists the operands and attributes of the op.
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

/// Returns one HostOpRow for each host op that sorts. An example is "top_k". A
/// HostOpRow contains the name of the op and the two functions that check and
/// execute the op. The functions are in hostops/Sorting.cpp.
std::span<const HostOpRow> sortingOps();
/// Returns one HostOpRow for each host op that computes cumulative results
/// along a dim. An example is "cumsum", the cumulative sum. A HostOpRow
/// contains the name of the op and the two functions that check and execute the
/// op. The functions are in hostops/Scans.cpp.
std::span<const HostOpRow> scanOps();
/// Returns one HostOpRow for each host op that writes elements or slices into a
/// tensor at given indices. An example is "scatter_elements". A HostOpRow
/// contains the name of the op and the two functions that check and execute the
/// op. The functions are in hostops/Scatters.cpp.
std::span<const HostOpRow> scatterOps();
/// Returns one HostOpRow for each host op that computes a step of a
/// mixture-of-experts layer. An example is "grouped_matmul". A HostOpRow
/// contains the name of the op and the two functions that check and execute the
/// op. The functions are in hostops/Experts.cpp.
std::span<const HostOpRow> expertOps();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
