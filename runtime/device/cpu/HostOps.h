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
  /// Memory for intermediate results of the op, as a vector of 64-bit integers.
  /// The function HostOpRow::prepare() sets the size of this vector. The
  /// function HostOpRow::run() stores intermediate results in this vector, and
  /// must not change the size.
  std::vector<int64_t> workspace;
};

/// Entry of a table of host ops. A host op is an op that models rarely use,
/// such as top_k. The CPU device executes a host op with a hand-written C++
/// function. The entry contains the name of one host op. The entry also
/// contains pointers to two functions: `prepare` checks whether the op can be
/// executed, and `run` executes the op.
struct HostOpRow {
  /// Name of the op, such as "top_k". An instruction of the kind HostOp
  /// contains this name. The device uses the name to find the functions that
  /// execute the instruction.
  std::string_view name;
  /// Checks whether the op can be executed. `call` contains the inputs, the
  /// outputs and the attributes of the op. The function checks the element
  /// types and shapes of the inputs and outputs, and checks the attributes. It
  /// does not read the addresses of the inputs and outputs, because the
  /// addresses are not known yet. Also sets the size of `call.workspace`, the
  /// memory for intermediate results.
  ///
  /// Returns null if the op can be executed. Otherwise returns the reason why
  /// the op cannot be executed, such as "needs one input".
  const char *(*prepare)(HostOpCall &call);
  /// Executes the op. `call` contains the inputs, the outputs and the
  /// attributes of the op. Before the call, two conditions must hold:
  ///
  /// - The function `prepare` has been called with the same `call`, and has
  ///   returned null. A return value of null means that the op can be executed.
  /// - The caller has stored the addresses of all inputs and outputs in `call`.
  ///
  /// The function reads the inputs from their addresses, and writes the results
  /// to the addresses of the outputs.
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
