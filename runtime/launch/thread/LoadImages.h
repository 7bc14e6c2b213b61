//===- LoadImages.h - loads rank executables into this process ------------===//

#ifndef PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
#define PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H

#include "runtime/program/ProgramImage.h"
#include "status/Status.h"

#include <string>
#include <vector>

namespace pcc::runtime {

/// Loads the executables of all ranks of `bundle` (output of pcc) as shared
/// objects, each file once. `images[r]` becomes the image (compiled program) of
/// rank r, valid until the process ends. Exit code 11 if a file is damaged.
Status loadImages(const std::string &bundle, int worldSize,
                  std::vector<const ProgramImage *> &images);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_LAUNCH_THREAD_LOADIMAGES_H
