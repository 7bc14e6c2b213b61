//===- PrivateFolder.cpp - temporary folder of one job --------------------===//

#include "runtime/launch/job/PrivateFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdlib.h>

namespace pcc::runtime {

static std::string temporaryFolder() {
  const char *base = std::getenv("TMPDIR");
  return base && *base ? base : "/tmp";
}

Status PrivateFolder::create(const std::string &base) {
  std::string made = (base.empty() ? temporaryFolder() : base) + "/pcc-XXXXXX";
  if (!mkdtemp(made.data()))
    return Status::error(InputOutput, "cannot make a temporary folder " + made +
                                          ": " + std::strerror(errno));
  folder.take(std::move(made));
  return Status::success();
}

} // namespace pcc::runtime
