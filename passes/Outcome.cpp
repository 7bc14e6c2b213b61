//===- Outcome.cpp - how a command ends -----------------------------------===//

#include "passes/Outcome.h"

using namespace pcc;

Outcome pcc::outcomeOf(const runtime::Status &status) {
  return {status.code(), status.message(), status.notes()};
}
