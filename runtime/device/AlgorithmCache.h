//===- AlgorithmCache.h - persistent cache of library algorithms ----------===//
//
// A library that selects among algorithms by heuristics, such as cuBLASLt, may
// select another one in another run, which changes the bits of the results. A
// bundle therefore keeps the selected algorithms, in one text file per version
// of the library and model of GPU:
//
//   pcc algorithms 1
//   <64 bytes in hexadecimal> <the problem, as the device describes it>
//   ...
//   checksum <xxh3 of the lines above, in hexadecimal>
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
#define PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace pcc::runtime {

/// Algorithm in the library's binary format: the bytes of a
/// cublasLtMatmulAlgo_t, for example.
using AlgorithmBytes = std::array<unsigned char, 64>;

/// Map from problems, such as one matrix product, to the algorithms that a
/// library selected for them in this run or an earlier one. The map is stored
/// in a file of the bundle (the directory that pcc writes), which all ranks of
/// a job share. Calls are made in this order:
///
///   open()         reads the file
///   find() add()   for each problem
///   keep()         writes the file
class AlgorithmCache {
public:
  /// Reads the file of algorithms in `folder`, the directory of the bundle.
  /// `user` is a text with the library, its version and the GPU, for example
  /// "cublaslt 130000 NVIDIA H100"; the file name is derived from it. If the
  /// file is absent, damaged or was not written by keep(), the cache is empty.
  void open(const std::string &folder, std::string_view user);

  /// Returns the algorithm of `problem`, or null if the cache has none. The
  /// file may be wrong, so the caller must check with the library that it can
  /// execute the algorithm. The pointer is valid until the next open() or
  /// add().
  const AlgorithmBytes *find(const std::string &problem) const;
  /// Stores `algorithm` as the algorithm of `problem`, and replaces an
  /// algorithm that is already stored. Only keep() writes to the file.
  void add(const std::string &problem, const AlgorithmBytes &algorithm);

  /// Writes to the file all algorithms that add() has stored, and keeps the
  /// algorithms that other processes have written since open(). The file is
  /// replaced atomically. Errors are ignored: if the directory is not writable,
  /// the library selects the algorithms again in the next run.
  void keep();

private:
  /// Path of the file in the bundle.
  std::string path;
  /// Maps from a problem to its algorithm. `known` has all algorithms. `added`
  /// has only the algorithms of add(), which keep() writes.
  std::map<std::string, AlgorithmBytes> known, added;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_DEVICE_ALGORITHMCACHE_H
