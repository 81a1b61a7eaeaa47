// A folder of its own for one test, removed with what is in it.
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace mallow::record {

class TestFolder {
 public:
  TestFolder() {
    char name[] = "/tmp/mallow-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TestFolder() {
    for (const std::string& name : Names()) unlink((path_ + "/" + name).c_str());
    rmdir(path_.c_str());
  }
  const char* path() const { return path_.c_str(); }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    DIR* folder = opendir(path_.c_str());
    while (dirent* entry = readdir(folder)) {
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    }
    closedir(folder);
    return names;
  }

 private:
  std::string path_;
};

}  // namespace mallow::record
