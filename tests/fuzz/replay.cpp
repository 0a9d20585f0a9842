// SPDX-License-Identifier: MIT
// Runs a fuzz target over the files of some folders, and over copies of them damaged by a fixed random
// sequence. A crash is the failure, and so is a gigabyte of memory or a minute of processor time for one input, which is
// left in the file replay-crash.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr unsigned kSeed = 20;
constexpr int kDamagedCopies = 60;
constexpr std::size_t kLongest = 20'000;  ///< longer inputs are replayed but not damaged

constexpr rlim_t kMemory = rlim_t{1} << 30;
constexpr time_t kSeconds = 60;  ///< of the processor's time: a busy machine makes no difference

const std::string* running = nullptr;

void leave_input(int signal) {
  const int file = ::open("replay-crash", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0 && running != nullptr) [[maybe_unused]]
    const ssize_t written = ::write(file, running->data(), running->size());
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void set_limits() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve far more than they use
  const rlimit memory{kMemory, kMemory};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM}) std::signal(signal, leave_input);
}

void run(const std::string& input) {
  running = &input;
  const itimerval limit{{0, 0}, {kSeconds, 0}};
  ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  static const std::string alphabet = "0123456789-{}[]\",:. etrufalsn\\\xff";
  for (std::size_t n = 1 + below(4); n > 0 && !text.empty(); --n) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0: text[at] = alphabet[below(alphabet.size())]; break;
      case 1: text.erase(at, 1 + below(8)); break;
      case 2: text.insert(at, text.substr(below(text.size()), 1 + below(40))); break;
      case 3: text.insert(at, std::to_string(random() * (below(2) == 0 ? 1ULL : 4'294'967'291ULL))); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  set_limits();
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);
    std::mt19937 random(kSeed);
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    run(text);
    for (int copy = 0; copy < kDamagedCopies && text.size() <= kLongest; ++copy) run(damaged(text, random));
  }
  std::printf("replayed %zu files, %d damaged copies of each, seed %u\n", files.size(), kDamagedCopies, kSeed);
  return files.empty() ? 1 : 0;
}
