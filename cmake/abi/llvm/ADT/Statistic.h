//===- Statistic.h - LLVM's statistics in builds with assertions ----------===//
//
// The statistics of a pass are objects of LLVM's libraries, which Debian builds
// without assertions. In a file with assertions (no NDEBUG), LLVM's header
// declares these objects with members that the libraries do not initialize.
// This file lies before LLVM's header in the include path, and reads it as the
// libraries did.
//
//===----------------------------------------------------------------------===//

#ifdef NDEBUG
#include_next "llvm/ADT/Statistic.h"
#else
#define NDEBUG
#include_next "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
