//===- HostOps.h - rare ops, by name --------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
#define PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H

#include "runtime/device/Device.h"

#include <string_view>

namespace pcc::runtime {

/// A dense row-major operand.
struct HostOperand {
  ElementType type;
  std::vector<int64_t> shape;
  void *data; ///< in the current microbatch
};

/// Operands of one op. Meanings of the attributes are documented in the file
/// that implements the op.
struct HostOpCall {
  std::vector<HostOperand> inputs;
  std::vector<HostOperand> outputs;
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  std::vector<int64_t> workspace; ///< of the size that `prepare` gave it
};

struct HostOpRow {
  std::string_view name;
  /// What is wrong with the call's operands, or null; sizes the workspace.
  const char *(*prepare)(HostOpCall &call);
  void (*run)(HostOpCall &call);
};

/// Rows of each family's file.
std::span<const HostOpRow> sortingOps();
std::span<const HostOpRow> scanOps();
std::span<const HostOpRow> scatterOps();
std::span<const HostOpRow> expertOps();

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_CPU_HOSTOPS_H
