//===- Outcome.cpp - result of a command ----------------------------------===//

#include "passes/Outcome.h"

using namespace pcc;

Outcome pcc::outcomeOf(const runtime::Status &status) {
  return {status.code(), status.message(), status.notes()};
}
