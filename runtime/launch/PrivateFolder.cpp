//===- PrivateFolder.cpp - a temporary folder of one job ------------------===//

#include "runtime/launch/PrivateFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdlib.h>

namespace pcc::runtime {

Status PrivateFolder::create() {
  const char *base = std::getenv("TMPDIR");
  std::string made = std::string(base && *base ? base : "/tmp") + "/pcc-XXXXXX";
  if (!mkdtemp(made.data()))
    return Status::error(InputOutput, "cannot make a temporary folder " + made +
                                          ": " + std::strerror(errno));
  folder.take(std::move(made));
  return Status::success();
}

} // namespace pcc::runtime
