//===- LoadImages.h - the executable of a rank, loaded --------------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
#define PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H

#include "runtime/base/Status.h"
#include "runtime/program/ProgramImage.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Loads the executables of all ranks into this process, once per distinct
/// file, and finds their images; entry r is rank r's. They stay loaded. Exit
/// code 11 if one is damaged.
Status loadImages(const std::string &bundle, int worldSize,
                  std::vector<const ProgramImage *> &images);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
