//===- Folder.h - a folder for the files of one test ----------------------===//

#ifndef PCC_TEST_RUNTIME_BASE_FOLDER_H
#define PCC_TEST_RUNTIME_BASE_FOLDER_H

#include "runtime/program/Layout.h"
#include "runtime/tensor/Npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace pcc::test {

/// A folder for inputs and outputs, which is removed with all its files.
class Folder {
public:
  Folder() {
    const auto *test = testing::UnitTest::GetInstance()->current_test_info();
    path = testing::TempDir() + "pcc-" + std::to_string(getpid()) + "-" +
           test->test_suite_name() + "-" + test->name();
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }

  template <typename T>
  std::string write(const std::string &name, runtime::ElementType type,
                    const std::vector<int64_t> &shape,
                    const std::vector<T> &values) const {
    const std::string file = path + "/" + name;
    std::ofstream out(file, std::ios::binary);
    out << runtime::npyHeader(type, shape);
    out.write(reinterpret_cast<const char *>(values.data()),
              long(values.size() * sizeof(T)));
    return file;
  }

  template <typename T> std::vector<T> read(const std::string &name) const {
    runtime::NpyFile file;
    const auto status = runtime::NpyFile::open(path + "/" + name, file);
    EXPECT_TRUE(status.ok()) << status.message();
    if (status.failed())
      return {};
    std::vector<T> values(size_t(runtime::numElements(file.shape())));
    std::memcpy(values.data(), file.data(), values.size() * sizeof(T));
    return values;
  }

  /// Returns the names of all files below the folder.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(path))
      names.push_back(std::filesystem::relative(entry.path(), path));
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string path;
};

} // namespace pcc::test

#endif // PCC_TEST_RUNTIME_BASE_FOLDER_H
